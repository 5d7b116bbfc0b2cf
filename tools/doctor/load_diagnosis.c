/* SPDX-License-Identifier: MIT */
#include "tools/doctor/load_diagnosis.h"

#include <grp.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/xattr.h>
#endif

static void free_finding(void *data) {
    struct doctor_finding *finding = data;
    g_free(finding->text);
    g_free(finding->advice);
    g_free(finding);
}

/* Takes over text and advice. */
static void find(struct doctor_diagnosis *diagnosis, const char *id, char *text, char *advice) {
    struct doctor_finding *finding = g_new0(struct doctor_finding, 1);
    *finding = (struct doctor_finding){id, text, advice};
    g_ptr_array_add(diagnosis->findings, finding);
}

/* ---- one file ---- */

static bool is_other_series(const struct doctor_wireshark *wireshark, const struct doctor_elf *elf) {
    return wireshark->version != NULL && elf->has_series &&
           (elf->major != wireshark->major || elf->minor != wireshark->minor);
}

/* Where tshark is a script that starts the program, ours tells the machine. */
static bool is_other_machine(const struct doctor_wireshark *wireshark, const struct doctor_elf *elf) {
    struct doctor_elf program;
    doctor_elf_read(wireshark->path, &program);
    if (program.machine == 0) {
        doctor_elf_read("/proc/self/exe", &program);
    }
    return program.machine != 0 && elf->machine != 0 && (program.machine != elf->machine || program.bits != elf->bits);
}

static char *advise_rebuild(const struct doctor_wireshark *wireshark) {
    return g_strdup_printf("Build it against the headers of Wireshark %d.%d (package wireshark-dev), and install that.",
                           wireshark->major, wireshark->minor);
}

/* Whether anything in the file itself keeps it from being loaded. */
static bool find_in_file(struct doctor_diagnosis *diagnosis, const struct doctor_wireshark *wireshark,
                         const struct doctor_plugin_file *copy) {
    char machine[32];
    if (copy->result == DOCTOR_ELF_UNREADABLE) {
        find(diagnosis, "unreadable", g_strdup_printf("%s cannot be read by you.", copy->path),
             g_strdup_printf("chmod a+r '%s', and let every folder above it be entered (chmod a+x).", copy->path));
    } else if (copy->result == DOCTOR_ELF_DAMAGED) {
        find(diagnosis, "damaged", g_strdup_printf("%s is cut short or damaged.", copy->path),
             g_strdup("Install it again."));
    } else if (is_other_machine(wireshark, &copy->elf)) {
        find(diagnosis, "wrong-architecture",
             g_strdup_printf("%s is for another machine (%s) than Wireshark.", copy->path,
                             doctor_elf_machine_text(&copy->elf, machine)),
             g_strdup("Build it for the machine that Wireshark was built for."));
    } else if (copy->result == DOCTOR_ELF_FOREIGN || !copy->elf.has_series) {
        find(diagnosis, "not-a-plugin", g_strdup_printf("%s is not a plugin of Wireshark.", copy->path),
             g_strdup("Install it again."));
    } else if (is_other_series(wireshark, &copy->elf)) {
        find(diagnosis, "wrong-series",
             g_strdup_printf("%s was built for Wireshark %d.%d, and this one is %s: a plugin works in its series only.",
                             copy->path, copy->elf.major, copy->elf.minor, wireshark->version),
             advise_rebuild(wireshark));
    } else {
        return false;
    }
    return true;
}

/* path NULL: there is no copy. */
static char *advise_install(const struct doctor_diagnosis *diagnosis, const struct doctor_wireshark *wireshark,
                            const char *path) {
    const char *folder = diagnosis->is_root ? wireshark->global : wireshark->personal;
    if (path == NULL) {
        return g_strdup_printf("In the build folder run: %s",
                               diagnosis->is_root ? "cmake --install ." : "cmake --build . --target install-user");
    }
    return folder != NULL ? g_strdup_printf("mkdir -p '%s/epan' && cp '%s' '%s/epan/'", folder, path, folder)
                          : g_strdup("");
}

static void find_in_copy(struct doctor_diagnosis *diagnosis, const struct doctor_wireshark *wireshark,
                         const struct doctor_plugin_file *copy) {
    bool is_bad = find_in_file(diagnosis, wireshark, copy);
    if (copy->place == DOCTOR_FOLDER_WRONG && !is_bad) {
        find(diagnosis, "wrong-folder",
             g_strdup_printf("%s lies where this Wireshark does not look for dissectors.", copy->path),
             advise_install(diagnosis, wireshark, copy->path));
    } else if (copy->place == DOCTOR_FOLDER_PERSONAL && diagnosis->is_root) {
        find(diagnosis, "root",
             g_strdup_printf("You are root, and for root Wireshark ignores personal plugins such as %s.", copy->path),
             g_strdup("Run Wireshark as an ordinary user, which is safer; or install for all users: cmake --install."));
    }
}

/* ---- Wireshark ---- */

static bool find_no_wireshark(struct doctor_diagnosis *diagnosis, const struct doctor_wireshark *wireshark) {
    if (wireshark->path == NULL) {
        find(diagnosis, "no-wireshark", g_strdup("There is no tshark in PATH, by which Wireshark could be asked."),
             g_strdup("Install Wireshark with tshark, or say where it is: --wireshark PATH."));
    } else if (wireshark->version == NULL) {
        find(diagnosis, "no-wireshark", g_strdup_printf("%s does not answer as tshark does.", wireshark->path),
             g_strdup("Say where tshark is: --wireshark PATH."));
    } else {
        return false;
    }
    return true;
}

static void find_variable(struct doctor_diagnosis *diagnosis) {
    const char *folder = g_getenv("WIRESHARK_PLUGIN_DIR");
    if (folder != NULL && diagnosis->is_root) {
        find(diagnosis, "root", g_strdup("You are root, and for root Wireshark ignores WIRESHARK_PLUGIN_DIR."),
             g_strdup("Run Wireshark as an ordinary user."));
    } else if (folder != NULL) {
        find(diagnosis, "variable",
             g_strdup_printf("WIRESHARK_PLUGIN_DIR is set: %s takes the place of the folder for all users.", folder),
             g_strdup("Unset it, unless you want that."));
    }
}

static bool is_asked_about(const char *given, const char *loaded) {
    char *a = given != NULL ? realpath(given, NULL) : NULL;
    char *b = realpath(loaded, NULL);
    bool same = given == NULL || (a != NULL && b != NULL && strcmp(a, b) == 0);
    free(a);
    free(b);
    return same;
}

static void find_several(struct doctor_diagnosis *diagnosis, const struct doctor_wireshark *wireshark,
                         const GPtrArray *copies) {
    guint count = 0;
    for (guint i = 0; i < copies->len; i++) {
        count += ((const struct doctor_plugin_file *)copies->pdata[i])->place != DOCTOR_FOLDER_WRONG;
    }
    if (count > 1 && !diagnosis->is_root) {
        find(diagnosis, "several",
             g_strdup_printf("There is one for all users and one of your own; Wireshark loads %s.",
                             wireshark->loaded != NULL ? wireshark->loaded : "neither"),
             g_strdup("Remove the older one."));
    }
}

static void find_why_not(struct doctor_diagnosis *diagnosis, const struct doctor_wireshark *wireshark, const GPtrArray *copies,
                         const char *given) {
    for (guint i = 0; i < copies->len; i++) {
        const struct doctor_plugin_file *copy = copies->pdata[i];
        if (given == NULL || strcmp(copy->path, given) == 0) {
            find_in_copy(diagnosis, wireshark, copy);
        }
    }
    if (copies->len == 0) {
        find(diagnosis, "missing",
             g_strdup_printf("%s is in none of the folders where Wireshark looks for it.", DOCTOR_PLUGIN_FILE),
             advise_install(diagnosis, wireshark, NULL));
    }
    if (wireshark->refusal != NULL) {
        find(diagnosis, "refused", g_strdup_printf("Wireshark says: %s", wireshark->refusal), g_strdup(""));
    }
}

/* ---- live capture ---- */

static bool has_rights(const char *program) {
    struct stat status;
    bool is_set_uid = stat(program, &status) == 0 && status.st_uid == 0 && (status.st_mode & S_ISUID) != 0;
#ifdef __linux__
    return is_set_uid || getxattr(program, "security.capability", NULL, 0) > 0;
#else
    return is_set_uid;
#endif
}

static char *advise_group(const char *program) {
    struct stat status;
    const struct group *group = stat(program, &status) == 0 ? getgrgid(status.st_gid) : NULL;
    return g_strdup_printf("Become a member of the group %s: sudo usermod -aG %s %s; then log in again.",
                           group != NULL ? group->gr_name : "wireshark", group != NULL ? group->gr_name : "wireshark",
                           g_get_user_name());
}

static void find_capture(struct doctor_diagnosis *diagnosis, const struct doctor_wireshark *wireshark) {
    char *program = wireshark->programs != NULL ? g_build_filename(wireshark->programs, "dumpcap", NULL) : NULL;
    if (program == NULL || !g_file_test(program, G_FILE_TEST_EXISTS)) {
        find(diagnosis, "no-capture", g_strdup("Live capture is not possible: dumpcap is not there."),
             g_strdup("Install it (package wireshark-common)."));
    } else if (access(program, X_OK) != 0) {
        find(diagnosis, "no-capture", g_strdup_printf("Live capture is not possible: you may not run %s.", program),
             advise_group(program));
    } else if (!diagnosis->is_root && !has_rights(program)) {
        find(diagnosis, "no-capture", g_strdup_printf("Live capture is not possible: %s lacks the right to.", program),
             g_strdup_printf("sudo setcap cap_net_raw,cap_net_admin+ep '%s'; on Debian and Ubuntu: sudo "
                             "dpkg-reconfigure wireshark-common.",
                             program));
    } else {
        diagnosis->can_capture = true;
    }
    g_free(program);
}

/* ---- all together ---- */

void doctor_diagnosis_make(struct doctor_diagnosis *diagnosis, const struct doctor_wireshark *wireshark, const GPtrArray *copies,
                       const char *given) {
    *diagnosis = (struct doctor_diagnosis){.is_root = getuid() == 0 || getgid() == 0};
    diagnosis->findings = g_ptr_array_new_with_free_func(free_finding);
    if (find_no_wireshark(diagnosis, wireshark)) {
        return;
    }
    diagnosis->loads = wireshark->loaded != NULL && is_asked_about(given, wireshark->loaded);
    if (!diagnosis->loads) {
        find_why_not(diagnosis, wireshark, copies, given);
    }
    find_several(diagnosis, wireshark, copies);
    find_variable(diagnosis);
    find_capture(diagnosis, wireshark);
}

void doctor_diagnosis_clear(struct doctor_diagnosis *diagnosis) {
    if (diagnosis->findings != NULL) {
        g_ptr_array_unref(diagnosis->findings);
    }
}

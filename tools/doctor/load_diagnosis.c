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

/* Adds a finding; takes ownership of text and advice. */
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

/* If tshark is a script that starts the program, this program shows the machine. */
static bool is_other_machine(const struct doctor_wireshark *wireshark, const struct doctor_elf *elf) {
    struct doctor_elf program;
    doctor_elf_read(wireshark->path, &program);
    if (program.machine == 0) {
        doctor_elf_read("/proc/self/exe", &program);
    }
    return program.machine != 0 && elf->machine != 0 && (program.machine != elf->machine || program.bits != elf->bits);
}

static char *advise_rebuild(const struct doctor_wireshark *wireshark) {
    return g_strdup_printf(
        "Build the plugin with the headers of Wireshark %d.%d (package wireshark-dev), and install it.",
        wireshark->major, wireshark->minor);
}

/* Adds what prevents this file from being loaded; returns whether there is anything. */
static bool find_in_file(struct doctor_diagnosis *diagnosis, const struct doctor_wireshark *wireshark,
                         const struct doctor_plugin_file *file) {
    char machine[32];
    if (file->result == DOCTOR_ELF_UNREADABLE) {
        g_autofree char *path = g_shell_quote(file->path);
        find(diagnosis, "unreadable", g_strdup_printf("You have no permission to read %s.", file->path),
             g_strdup_printf("Run chmod a+r %s, and chmod a+x on every folder above it.", path));
    } else if (file->result == DOCTOR_ELF_DAMAGED) {
        find(diagnosis, "damaged", g_strdup_printf("%s is truncated or damaged.", file->path),
             g_strdup("Install it again."));
    } else if (is_other_machine(wireshark, &file->elf)) {
        find(diagnosis, "wrong-architecture",
             g_strdup_printf("%s is for another machine (%s) than Wireshark.", file->path,
                             doctor_elf_machine_text(&file->elf, machine)),
             g_strdup("Build it for the machine that Wireshark was built for."));
    } else if (file->result == DOCTOR_ELF_FOREIGN || !file->elf.has_series) {
        find(diagnosis, "not-a-plugin", g_strdup_printf("%s is not a Wireshark plugin.", file->path),
             g_strdup("Install it again."));
    } else if (is_other_series(wireshark, &file->elf)) {
        find(diagnosis, "wrong-series",
             g_strdup_printf("%s was built for Wireshark %d.%d, but this Wireshark is %s: a plugin works only in the "
                             "series it was built for.",
                             file->path, file->elf.major, file->elf.minor, wireshark->version),
             advise_rebuild(wireshark));
    } else {
        return false;
    }
    return true;
}

/* path NULL: no plugin file was found. */
static char *advise_install(const struct doctor_diagnosis *diagnosis, const struct doctor_wireshark *wireshark,
                            const char *path) {
    const char *folder = diagnosis->is_root ? wireshark->global : wireshark->personal;
    if (path == NULL) {
        return g_strdup_printf("In the build folder run: %s", diagnosis->is_root
                                                                  ? "cmake --install . --component plugin --prefix /usr"
                                                                  : "cmake --build . --target install-user");
    }
    if (folder == NULL) {
        return g_strdup("");
    }
    g_autofree char *epan = g_strconcat(folder, "/epan/", NULL);
    g_autofree char *quoted_epan = g_shell_quote(epan);
    g_autofree char *quoted_path = g_shell_quote(path);
    return g_strdup_printf("mkdir -p %s && cp %s %s", quoted_epan, quoted_path, quoted_epan);
}

static void find_in_copy(struct doctor_diagnosis *diagnosis, const struct doctor_wireshark *wireshark,
                         const struct doctor_plugin_file *file) {
    bool is_bad = find_in_file(diagnosis, wireshark, file);
    if (file->place == DOCTOR_FOLDER_WRONG && !is_bad) {
        find(diagnosis, "wrong-folder",
             g_strdup_printf("%s is in a folder where this Wireshark does not look for dissectors.", file->path),
             advise_install(diagnosis, wireshark, file->path));
    } else if (file->place == DOCTOR_FOLDER_PERSONAL && diagnosis->is_root) {
        find(diagnosis, "root",
             g_strdup_printf("Wireshark ignores personal plugins such as %s when root runs it, and you are root.",
                             file->path),
             g_strdup("Run Wireshark as an ordinary user, which is safer; or install for all users of the Wireshark in "
                      "/usr: cmake --install . --component plugin --prefix /usr."));
    }
}

/* ---- Wireshark ---- */

static bool find_no_wireshark(struct doctor_diagnosis *diagnosis, const struct doctor_wireshark *wireshark) {
    if (wireshark->path == NULL) {
        find(diagnosis, "no-wireshark", g_strdup("There is no tshark in PATH to query Wireshark."),
             g_strdup("Install Wireshark with tshark, or give its path with --wireshark PATH."));
    } else if (wireshark->version == NULL) {
        find(diagnosis, "no-wireshark", g_strdup_printf("%s does not answer as tshark does.", wireshark->path),
             g_strdup("Give the path of tshark with --wireshark PATH."));
    } else {
        return false;
    }
    return true;
}

static void find_variable(struct doctor_diagnosis *diagnosis) {
    const char *folder = g_getenv("WIRESHARK_PLUGIN_DIR");
    if (folder != NULL && diagnosis->is_root) {
        find(diagnosis, "root", g_strdup("Wireshark ignores WIRESHARK_PLUGIN_DIR when root runs it, and you are root."),
             g_strdup("Run Wireshark as an ordinary user."));
    } else if (folder != NULL) {
        find(diagnosis, "variable",
             g_strdup_printf("WIRESHARK_PLUGIN_DIR is set: %s replaces the global plugin folder.", folder),
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
                         const GPtrArray *files) {
    guint count = 0;
    for (guint i = 0; i < files->len; i++) {
        count += ((const struct doctor_plugin_file *)files->pdata[i])->place != DOCTOR_FOLDER_WRONG;
    }
    if (count > 1 && !diagnosis->is_root) {
        find(diagnosis, "several",
             g_strdup_printf("There is a global plugin and a personal one; Wireshark loads %s.",
                             wireshark->loaded != NULL ? wireshark->loaded : "neither"),
             g_strdup("Remove the older one."));
    }
}

static void find_why_not(struct doctor_diagnosis *diagnosis, const struct doctor_wireshark *wireshark,
                         const GPtrArray *files, const char *given) {
    for (guint i = 0; i < files->len; i++) {
        const struct doctor_plugin_file *file = files->pdata[i];
        if (given == NULL || strcmp(file->path, given) == 0) {
            find_in_copy(diagnosis, wireshark, file);
        }
    }
    if (files->len == 0) {
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
    g_autofree char *program =
        wireshark->programs != NULL ? g_build_filename(wireshark->programs, "dumpcap", NULL) : NULL;
    if (program == NULL || !g_file_test(program, G_FILE_TEST_EXISTS)) {
        find(diagnosis, "no-capture", g_strdup("Live capture is not possible: dumpcap is not installed."),
             g_strdup("Install it (package wireshark-common)."));
    } else if (access(program, X_OK) != 0) {
        find(diagnosis, "no-capture",
             g_strdup_printf("Live capture is not possible: you have no permission to run %s.", program),
             advise_group(program));
    } else if (!diagnosis->is_root && !has_rights(program)) {
        g_autofree char *quoted = g_shell_quote(program);
        find(diagnosis, "no-capture",
             g_strdup_printf("Live capture is not possible: %s has no permission to capture.", program),
             g_strdup_printf("sudo setcap cap_net_raw,cap_net_admin+ep %s; on Debian and Ubuntu: sudo "
                             "dpkg-reconfigure wireshark-common.",
                             quoted));
    } else {
        diagnosis->can_capture = true;
    }
}

void doctor_diagnosis_make(struct doctor_diagnosis *diagnosis, const struct doctor_wireshark *wireshark,
                           const GPtrArray *files, const char *given) {
    *diagnosis = (struct doctor_diagnosis){.is_root = getuid() == 0 || getgid() == 0};
    diagnosis->findings = g_ptr_array_new_with_free_func(free_finding);
    if (find_no_wireshark(diagnosis, wireshark)) {
        return;
    }
    diagnosis->loads = wireshark->loaded != NULL && is_asked_about(given, wireshark->loaded);
    if (!diagnosis->loads) {
        find_why_not(diagnosis, wireshark, files, given);
    }
    find_several(diagnosis, wireshark, files);
    find_variable(diagnosis);
    find_capture(diagnosis, wireshark);
}

void doctor_diagnosis_clear(struct doctor_diagnosis *diagnosis) {
    g_clear_pointer(&diagnosis->findings, g_ptr_array_unref);
}

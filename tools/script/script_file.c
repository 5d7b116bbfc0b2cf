/* SPDX-License-Identifier: MIT */
#include "tools/script/script_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* ---- reading ---- */

/* Everything, or one byte more than is allowed. */
static GByteArray *read_all(FILE *file) {
    GByteArray *bytes = g_byte_array_new();
    uint8_t block[16384];
    size_t count;
    do {
        count = fread(block, 1, sizeof block, file);
        g_byte_array_append(bytes, block, (guint)count);
    } while (count == sizeof block && bytes->len <= SCRIPT_FILE_BYTES_MAX);
    return bytes;
}

struct script_file *script_file_read(const char *path, char **problem) {
    bool is_stdin = strcmp(path, "-") == 0;
    FILE *file = is_stdin ? stdin : fopen(path, "rb");
    if (file == NULL) {
        *problem = g_strdup_printf("%s: %s", path, g_strerror(errno));
        return NULL;
    }
    g_autoptr(GByteArray) bytes = read_all(file);
    struct script_file *script = NULL;
    if (ferror(file) != 0) {
        *problem = g_strdup_printf("%s: %s", path, g_strerror(errno));
    } else {
        script = script_file_parse(path, (const char *)bytes->data, bytes->len, problem);
    }
    if (!is_stdin) {
        fclose(file);
    }
    return script;
}

/* The first byte that text must not contain; NULL: none. */
static const char *find_foreign(const char *text, size_t size_bytes) {
    const char *at = text;
    const char *end = text + size_bytes;
    if (size_bytes == 0) {
        return NULL;
    }
    g_utf8_validate(text, (gssize)size_bytes, &end); /* also ends at a NUL */
    while (at < end && ((unsigned char)*at >= ' ' || *at == '\n' || *at == '\r') && *at != 127) {
        at++;
    }
    return at < text + size_bytes ? at : NULL;
}

static char *describe_foreign(const char *name, const char *text, const char *at) {
    size_t line = 1;
    const char *begin = text;
    for (const char *c = text; c < at; c++) {
        if (*c == '\n') {
            line++;
            begin = c + 1;
        }
    }
    return g_strdup_printf("%s:%zu:%zu: the byte 0x%02x is not allowed in a script", name, line,
                           (size_t)(at - begin) + 1, (unsigned char)*at);
}

/* False: a line is too long; it is the last one in the list. */
static bool split(struct script_file *script) {
    char *line = script->text;
    while (*line != '\0') {
        char *end = line + strcspn(line, "\n");
        char *next = *end != '\0' ? end + 1 : end;
        *end = '\0';
        if (end > line && end[-1] == '\r') {
            end[-1] = '\0';
        }
        g_ptr_array_add(script->lines, line);
        if (end - line > SCRIPT_LINE_BYTES_MAX) {
            return false;
        }
        line = next;
    }
    return true;
}

struct script_file *script_file_parse(const char *name, const char *text, size_t size_bytes, char **problem) {
    if (size_bytes > SCRIPT_FILE_BYTES_MAX) {
        *problem = g_strdup_printf("%s: longer than %u bytes", name, SCRIPT_FILE_BYTES_MAX);
        return NULL;
    }
    const char *foreign = find_foreign(text, size_bytes);
    if (foreign != NULL) {
        *problem = describe_foreign(name, text, foreign);
        return NULL;
    }
    struct script_file *script = g_new(struct script_file, 1);
    *script =
        (struct script_file){g_strdup(name), g_strndup(size_bytes != 0 ? text : "", size_bytes), g_ptr_array_new()};
    if (!split(script)) {
        *problem = g_strdup_printf("%s:%u: longer than %d bytes", name, script->lines->len, SCRIPT_LINE_BYTES_MAX);
        script_file_free(script);
        return NULL;
    }
    return script;
}

void script_file_free(struct script_file *script) {
    g_ptr_array_free(script->lines, TRUE);
    g_free(script->name);
    g_free(script->text);
    g_free(script);
}

/* ---- generations ---- */

static const char letters[] = {
    [UE_ACKS_LEGACY] = 'L', [UE_ACKS_PLAIN] = 'A', [UE_ACKS_FLUSH] = 'B', [UE_ACKS_RESET] = 'C'};

static void add_all(GArray *generations) {
    const struct ue_profile *profile;
    for (size_t i = 0; (profile = ue_profile_at(i)) != NULL; i++) {
        script_generation_add(generations, profile->name);
    }
}

bool script_generation_add(GArray *generations, const char *name) {
    struct script_generation generation = {.name = g_intern_string(name)};
    const struct ue_profile *profile = ue_profile_find(name);
    const char *letter = strlen(name) == 1 ? memchr(letters, name[0], sizeof letters) : NULL;
    if (strcmp(name, "all") == 0) {
        add_all(generations);
        return true;
    }
    if (letter != NULL) {
        script_testbed_config_init(&generation.config, (enum ue_ack_generation)(letter - letters));
    } else if (profile != NULL) {
        generation.config = (struct script_testbed_config){.profile = *profile};
    } else {
        return false;
    }
    generation.letter = letters[generation.config.profile.acks];
    g_array_append_val(generations, generation);
    return true;
}

static const char *generation_words(const struct script_file *script, size_t line) {
    static const char key[] = "generation ";
    const char *text = script->lines->pdata[line];
    return strncmp(text, key, sizeof key - 1) == 0 ? text + sizeof key - 1 : NULL;
}

/* SIZE_MAX: there is none. */
static size_t find_generation_line(const struct script_file *script) {
    for (size_t i = 0; i < script->lines->len; i++) {
        if (generation_words(script, i) != NULL) {
            return i;
        }
    }
    return SIZE_MAX;
}

bool script_file_is_generation_line(const struct script_file *script, size_t line) {
    return line == find_generation_line(script);
}

bool script_generation_add_declared(GArray *generations, const struct script_file *script, size_t *line, size_t *column,
                                    struct script_error *error) {
    size_t at = find_generation_line(script);
    if (at == SIZE_MAX) {
        return true;
    }
    g_autofree char *copy = g_strdup(script->lines->pdata[at]);
    char *rest = copy;
    bool good = true;
    script_token_next(&rest);
    char *token = script_token_require(&rest, "a generation", error);
    for (; good && token != NULL && *token != '\0'; token = script_token_next(&rest)) {
        good =
            script_generation_add(generations, token) ||
            script_error_set(error, token,
                             "\"%.40s\" is neither an engine release from 4.13 to 5.8, nor A, B, C, L or all", token);
    }
    *line = at + 1;
    *column = error->at != NULL ? (size_t)(error->at - copy) + 1 : 0;
    return error->at == NULL;
}

/* SPDX-License-Identifier: MIT */
#include "libcodec/cipher/key_log_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#ifdef _WIN32
#include <ws2tcpip.h>
#else
#include <arpa/inet.h>
#endif

#define KEY_DIGITS (2 * (size_t)UE_CIPHER_KEY_BYTES)
#define FILES_MAX 16
#define PATH_BYTES 4096
#define LINE_BYTES 1024
#define BLANKS " \t"

static const char no_key[] = "not a key of 64 hexadecimal digits";
static const char unreadable[] = "neither a key of 64 hexadecimal digits nor a file that can be read";
static const char too_many_keys[] = "there are too many keys";

struct key_file {
    char path[PATH_BYTES];
    long size;      /* of the file when it was read */
    long read_to;   /* offset after the last whole line */
    unsigned lines; /* number of lines before that offset */
};

struct ue_keys {
    struct ue_key *rows;
    size_t count, capacity;
    struct key_file *files[FILES_MAX];
    size_t file_count;
};

struct ue_keys *ue_keys_new(void) {
    return calloc(1, sizeof(struct ue_keys));
}

void ue_keys_clear(struct ue_keys *keys) {
    while (keys->file_count > 0) {
        free(keys->files[--keys->file_count]);
    }
    free(keys->rows);
    *keys = (struct ue_keys){0};
}

void ue_keys_free(struct ue_keys *keys) {
    if (keys != NULL) {
        ue_keys_clear(keys);
        free(keys);
    }
}

static struct ue_key *reserve_key(struct ue_keys *keys) {
    if (keys->count == keys->capacity) {
        size_t capacity = keys->capacity != 0 ? 2 * keys->capacity : 4;
        struct ue_key *rows = keys->count < UE_KEYS_MAX ? realloc(keys->rows, capacity * sizeof *rows) : NULL;
        if (rows == NULL) {
            return NULL;
        }
        keys->rows = rows;
        keys->capacity = capacity;
    }
    return &keys->rows[keys->count];
}

/* ---- texts ---- */

static int digit_value(char digit) {
    const char *const digits = "0123456789abcdef0123456789ABCDEF";
    const char *found = digit != '\0' ? strchr(digits, digit) : NULL;
    return found != NULL ? (int)((found - digits) & 15) : -1;
}

static bool parse_key(const char *hex, uint8_t *bytes) {
    for (size_t i = 0; i < UE_CIPHER_KEY_BYTES; i++) {
        int high = digit_value(hex[2 * i]);
        int low = high < 0 ? -1 : digit_value(hex[2 * i + 1]);
        if (low < 0) {
            return false;
        }
        bytes[i] = (uint8_t)(high << 4 | low);
    }
    return hex[KEY_DIGITS] == '\0';
}

static bool is_any(const char *text) {
    return text == NULL || *text == '\0' || strcmp(text, "*") == 0;
}

static bool parse_port(const char *text, uint16_t *port) {
    char *end = NULL;
    unsigned long number = strtoul(text, &end, 10);
    *port = (uint16_t)number;
    return *text >= '0' && *text <= '9' && *end == '\0' && number >= 1 && number <= UINT16_MAX;
}

static bool parse_address(const char *text, struct ue_key_endpoint *end) {
    if (inet_pton(AF_INET, text, end->address) == 1) {
        end->address_bytes = 4;
    } else if (inet_pton(AF_INET6, text, end->address) == 1) {
        end->address_bytes = 16;
    }
    return end->address_bytes != 0;
}

/* Splits SERVER of a key log. The text becomes the address. Returns the port, or NULL when there is none. */
static const char *split_port(char *text) {
    char *colon = strrchr(text, ':');
    char *bracket = strchr(text, ']');
    if (text[0] == '[' && bracket != NULL) {
        memmove(text, text + 1, (size_t)(bracket - text) - 1);
        bracket[-1] = '\0';
        return bracket[1] == ':' ? bracket + 2 : NULL;
    }
    if (colon == NULL || strchr(text, ':') != colon) {
        return NULL; /* more than one colon: an IPv6 address alone */
    }
    *colon = '\0';
    return colon + 1;
}

bool ue_key_parse(const struct ue_key_row *row, struct ue_key *key, const char **problem) {
    *key = (struct ue_key){0};
    if (row->key == NULL || !parse_key(row->key, key->bytes)) {
        *problem = no_key;
        return false;
    }
    if (!is_any(row->address) && !parse_address(row->address, &key->end)) {
        *problem = "the address is neither an IPv4 nor an IPv6 address; empty means any";
        return false;
    }
    if (!is_any(row->port) && !parse_port(row->port, &key->end.port)) {
        *problem = "the port is no number from 1 to 65535; empty means any";
        return false;
    }
    snprintf(key->token, sizeof key->token, "%s", row->token != NULL ? row->token : "");
    return true;
}

bool ue_keys_add_row(struct ue_keys *keys, const struct ue_key_row *row, const char *origin, const char **problem) {
    struct ue_key *key = reserve_key(keys);
    if (key == NULL) {
        *problem = too_many_keys;
        return false;
    }
    bool ok = ue_key_parse(row, key, problem);
    snprintf(key->origin, sizeof key->origin, "%s", origin);
    keys->count += ok;
    return ok;
}

/* ---- files ---- */

/* Splits off the first word and advances *rest to the next. */
static char *next_word(char **rest) {
    char *word = *rest;
    size_t length = strcspn(word, BLANKS);
    *rest = word + length + strspn(word + length, BLANKS);
    word[length] = '\0';
    return word;
}

static bool add_line(struct ue_keys *keys, const struct key_file *file, char *line, const char **problem) {
    char origin[UE_KEY_ORIGIN_BYTES];
    const char *slash = strrchr(file->path, '/');
    struct ue_key_row row;
    line[strcspn(line, "\r\n")] = '\0';
    line += strspn(line, BLANKS);
    if (*line == '\0' || *line == '#') {
        return true;
    }
    row.key = next_word(&line);
    char *server = next_word(&line);
    row.port = split_port(server);
    row.address = server;
    row.token = line;
    snprintf(origin, sizeof origin, "line %u of %.60s", file->lines + 1, slash != NULL ? slash + 1 : file->path);
    return ue_keys_add_row(keys, &row, origin, problem);
}

/* Reads lines to the end of the file or to the first invalid line. A last line without newline is used, and read again
   when the file has grown. A line that is too long or contains a zero byte is invalid. */
static bool read_lines(struct ue_keys *keys, struct key_file *file, FILE *stream, const char **problem) {
    char line[LINE_BYTES] = "";
    bool ok = true;
    while (ok && fgets(line, sizeof line, stream) != NULL) {
        bool is_whole = strchr(line, '\n') != NULL;
        *problem = no_key;
        ok = line[0] != '\0' && (is_whole || feof(stream)) && add_line(keys, file, line, problem);
        file->size = ftell(stream);
        file->read_to = is_whole ? file->size : file->read_to;
        file->lines += is_whole;
    }
    return ok && !ferror(stream);
}

static struct key_file *open_file(struct ue_keys *keys, const char *path, FILE **stream) {
    struct key_file *file = strlen(path) < PATH_BYTES && keys->file_count < FILES_MAX ? calloc(1, sizeof *file) : NULL;
    if (file == NULL) {
        return NULL;
    }
    memcpy(file->path, path, strlen(path) + 1);
    *stream = fopen(path, "rb");
    if (*stream == NULL) {
        free(file);
        return NULL;
    }
    return file;
}

bool ue_keys_add_file(struct ue_keys *keys, const char *path, const char **problem) {
    FILE *stream = NULL;
    struct key_file *file = open_file(keys, path, &stream);
    *problem = unreadable;
    if (file == NULL) {
        return false;
    }
    bool ok = read_lines(keys, file, stream, problem);
    fclose(stream);
    if (ok) {
        keys->files[keys->file_count++] = file;
    } else {
        free(file);
    }
    return ok;
}

/* Reads the new lines of a file; all lines when the file has become shorter. */
static void refresh_file(struct ue_keys *keys, struct key_file *file) {
    const char *ignored;
    struct stat now;
    if (stat(file->path, &now) != 0 || now.st_size == file->size) {
        return;
    }
    FILE *stream = fopen(file->path, "rb");
    if (stream == NULL) {
        return;
    }
    if (now.st_size < file->size) {
        file->read_to = 0;
        file->lines = 0;
    }
    if (fseek(stream, file->read_to, SEEK_SET) == 0) {
        while (!read_lines(keys, file, stream, &ignored) && !feof(stream) && !ferror(stream)) {
        }
    }
    file->size = (long)now.st_size;
    fclose(stream);
}

bool ue_keys_refresh(struct ue_keys *keys) {
    size_t before = keys->count;
    for (size_t i = 0; i < keys->file_count; i++) {
        refresh_file(keys, keys->files[i]);
    }
    return keys->count > before;
}

size_t ue_keys_count(const struct ue_keys *keys) {
    return keys->count;
}

const struct ue_key *ue_keys_at(const struct ue_keys *keys, size_t index) {
    return &keys->rows[index];
}

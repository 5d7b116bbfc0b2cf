/* SPDX-License-Identifier: MIT */
/* The user's keys, from options, tables and key logs. A key can be limited to a server and a token. A key log has one
   key per line, and may grow while it is read:

       KEY [SERVER [TOKEN]]

   KEY: 64 hexadecimal digits. SERVER: ADDRESS, ADDRESS:PORT, [ADDRESS]:PORT, *:PORT, or * for all. TOKEN: the
   EncryptionToken of Hello, to the end of the line. Empty lines and lines that begin with # are skipped. */
#ifndef UERUDP_LIBCODEC_CIPHER_KEY_LOG_FILE_H
#define UERUDP_LIBCODEC_CIPHER_KEY_LOG_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UE_CIPHER_KEY_BYTES 32
#define UE_KEYS_MAX 4096
#define UE_TOKEN_BYTES 512 /* with the terminating NUL; longer tokens are cut */
#define UE_KEY_ORIGIN_BYTES 96

/* An endpoint of a connection. */
struct ue_key_endpoint {
    uint8_t address[16];
    uint8_t address_bytes; /* 4 or 16; 0: any, or unknown */
    uint16_t port;         /* 0: any, or unknown */
};

struct ue_key {
    uint8_t bytes[UE_CIPHER_KEY_BYTES];
    struct ue_key_endpoint end;       /* for connections with this endpoint */
    char token[UE_TOKEN_BYTES];       /* and with this token; empty: any */
    char origin[UE_KEY_ORIGIN_BYTES]; /* "line 3 of keys.txt" */
};

/* A key as text. Apart from the key, a text that is NULL or empty means any. */
struct ue_key_row {
    const char *address, *port, *token, *key;
};

/* Returns false and sets *problem to a static phrase when the row is no valid key. */
bool ue_key_parse(const struct ue_key_row *row, struct ue_key *key, const char **problem);

struct ue_keys;

struct ue_keys *ue_keys_new(void); /* NULL when there is no memory */
void ue_keys_free(struct ue_keys *keys);
void ue_keys_clear(struct ue_keys *keys); /* removes all keys and key logs */

/* Return false and set *problem to a static phrase on an error. Keys before the error are added. */
bool ue_keys_add_row(struct ue_keys *keys, const struct ue_key_row *row, const char *origin, const char **problem);
bool ue_keys_add_file(struct ue_keys *keys, const char *path, const char **problem);

/* Reads new lines of the key logs. Returns whether there are new keys. Invalid lines are skipped. */
bool ue_keys_refresh(struct ue_keys *keys);

size_t ue_keys_count(const struct ue_keys *keys);
const struct ue_key *ue_keys_at(const struct ue_keys *keys, size_t index); /* valid until keys are added */

#endif

/* SPDX-License-Identifier: MIT */
#include <uerudp/profile.h>

#include <string.h>

static const char *const names[] = {
    [UE_HANDLER_NONE] = NULL,
    [UE_HANDLER_OODLE] = "oodle",
    [UE_HANDLER_AESGCM] = "aesgcm",
    [UE_HANDLER_AESGCM_BYTES] = "aesgcm-bytes",
    [UE_HANDLER_AES_ECB] = "aes-ecb",
    [UE_HANDLER_DTLS] = "dtls",
    [UE_HANDLER_RELIABILITY] = "reliability",
    [UE_HANDLER_UNKNOWN] = "unknown",
};

const char *ue_handler_name(enum ue_handler handler) {
    return (size_t)handler < sizeof names / sizeof *names ? names[handler] : NULL;
}

enum ue_handler ue_handler_find(const char *name, size_t length) {
    for (size_t i = 1; i < sizeof names / sizeof *names; i++) {
        if (strlen(names[i]) == length && memcmp(names[i], name, length) == 0) {
            return (enum ue_handler)i;
        }
    }
    return UE_HANDLER_NONE;
}

bool ue_handlers_parse(const char *text, enum ue_handler handlers[UE_HANDLERS_MAX]) {
    enum ue_handler chain[UE_HANDLERS_MAX] = {UE_HANDLER_NONE};
    for (size_t count = 0; *text != '\0'; count++) {
        size_t length = strcspn(text, ",");
        enum ue_handler handler = ue_handler_find(text, length);
        if (handler == UE_HANDLER_NONE || count == UE_HANDLERS_MAX) {
            return false;
        }
        chain[count] = handler;
        text += length;
        if (*text == ',') {
            text++;
            if (*text == '\0') {
                return false;
            }
        }
    }
    memcpy(handlers, chain, sizeof chain);
    return true;
}

const char *ue_handlers_text(const enum ue_handler handlers[UE_HANDLERS_MAX], char text[UE_HANDLERS_CHARS]) {
    size_t length = 0;
    for (size_t i = 0; i < UE_HANDLERS_MAX && handlers[i] != UE_HANDLER_NONE; i++) {
        const char *name = names[handlers[i]];
        if (i != 0) {
            text[length++] = ',';
        }
        memcpy(text + length, name, strlen(name));
        length += strlen(name);
    }
    text[length] = '\0';
    return text;
}

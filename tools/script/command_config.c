/* SPDX-License-Identifier: MIT */
/* The command "config": wire settings, limits and options of the endpoints. */
#include <string.h>

#include <uerudp/settings.h>
#include "tools/script/script_file.h"

enum config_kind { FLAG, NUMBER_8, NUMBER_32, SIGNED_32, SIZE, SECONDS };

#define LIMIT(member, kind) {#member, offsetof(struct ue_conn_config, member), kind}
#define TIME(name) {#name, offsetof(struct ue_conn_config, name##_ns), SECONDS}
#define OPTION(member, kind) {#member, offsetof(struct ue_conn_config, options.member), kind}

static const struct config_row {
    const char *key;
    size_t at;
    enum config_kind kind;
} rows[] = {
    LIMIT(max_channels, NUMBER_32),
    LIMIT(memory_limit_bytes, SIZE),
    LIMIT(max_events, NUMBER_32),
    LIMIT(max_datagrams, NUMBER_32),
    LIMIT(partial_max_bytes, NUMBER_32),
    LIMIT(partial_threshold, SIGNED_32),
    TIME(keep_alive),
    TIME(connect_timeout),
    TIME(timeout),
    LIMIT(no_timeouts, FLAG),
    LIMIT(no_order_cache, FLAG),
    LIMIT(net_speed, SIGNED_32),
    TIME(desired_tick),
    LIMIT(want_frame_time, FLAG),
    LIMIT(any_channel, FLAG),
    LIMIT(network_version, NUMBER_32),
    LIMIT(client_id, NUMBER_8),
    OPTION(tail_probe, FLAG),
    OPTION(tail_probe_data, FLAG),
    OPTION(quiet, FLAG),
    OPTION(send_window, FLAG),
    OPTION(burst_limit, NUMBER_32),
    OPTION(pacing, FLAG),
    {"reorder_wait", offsetof(struct ue_conn_config, options.reorder_wait_ns), SECONDS},
    OPTION(resend_close, FLAG),
    OPTION(strict_client, FLAG),
    OPTION(strict_header, FLAG),
    OPTION(prompt_acks, FLAG),
    OPTION(repeat_reliable, FLAG),
    OPTION(repeat_ticks, NUMBER_32),
};

static const struct config_row *find(const char *key) {
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        if (script_token_is(key, rows[i].key)) {
            return &rows[i];
        }
    }
    return NULL;
}

static bool set_signed(int32_t *member, const char *value, struct script_error *error) {
    gint64 number;
    if (!g_ascii_string_to_signed(value, 10, INT32_MIN, INT32_MAX, &number, NULL)) {
        return script_error_set(error, value, "\"%.40s\" is not a number of 32 bits", value);
    }
    *member = (int32_t)number;
    return true;
}

static bool set_member(void *member, enum config_kind kind, const char *value, struct script_error *error) {
    static const uint64_t most[] = {[FLAG] = 1, [NUMBER_8] = UINT8_MAX, [NUMBER_32] = UINT32_MAX, [SIZE] = SIZE_MAX};
    uint64_t number = 0;
    if (kind == SECONDS) {
        return script_token_parse_seconds(value, member, error);
    }
    if (kind == SIGNED_32) {
        return set_signed(member, value, error);
    }
    if (!script_token_parse_number(value, most[kind], &number, error)) {
        return false;
    }
    switch (kind) {
    case FLAG: *(bool *)member = number != 0; break;
    case NUMBER_8: *(uint8_t *)member = (uint8_t)number; break;
    case NUMBER_32: *(uint32_t *)member = (uint32_t)number; break;
    default: *(size_t *)member = (size_t)number; break;
    }
    return true;
}

static bool set(struct ue_conn_config *config, const char *key, const char *value, struct script_error *error) {
    const struct config_row *row = find(key);
    if (row != NULL) {
        return set_member((uint8_t *)config + row->at, row->kind, value, error);
    }
    switch (ue_settings_set(&config->settings, key, value)) {
    case UE_SETTING_OK: return true;
    case UE_SETTING_BAD_VALUE: return script_error_set(error, value, "\"%.40s\" is not a value of %s", value, key);
    case UE_SETTING_UNKNOWN: break;
    }
    return script_error_set(error, key, "\"%.40s\" cannot be configured", key);
}

/* Parses "KEY=VALUE", or "KEY" for 1. */
static bool set_token(struct script_testbed_config *config, unsigned who, char *token, struct script_error *error) {
    char *equals = strchr(token, '=');
    if (equals != NULL) {
        *equals = '\0';
    }
    const char *value = equals != NULL ? equals + 1 : "1";
    bool good = true;
    for (unsigned side = 0; side < 2; side++) {
        if ((who >> side & 1) != 0) {
            good = good && set(&config->ends[side], token, value, error);
        }
    }
    return good;
}

bool script_config_parse(struct script_testbed_config *config, char *line, struct script_error *error) {
    unsigned who = 3;
    char *token = script_token_require(&line, "a key", error);
    if (token != NULL && (script_token_is(token, "C") || script_token_is(token, "S"))) {
        who = token[0] == 'C' ? 1 : 2;
        token = script_token_require(&line, "a key", error);
    }
    while (token != NULL && *token != '\0') {
        if (!set_token(config, who, token, error)) {
            return false;
        }
        token = script_token_next(&line);
    }
    return token != NULL;
}

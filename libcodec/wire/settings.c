/* SPDX-License-Identifier: MIT */
#include <uerudp/settings.h>

#include <string.h>

#include <uerudp/network_version.h>

enum key {
    KEY_MAGIC_BITS,
    KEY_MAGIC,
    KEY_SKIP_BYTES,
    KEY_MAX_PACKET,
    KEY_CH_SEQ_BOUND,
    KEY_EXTRA_BITS,
    KEY_TERMINATORS,
    KEY_HANDLERS,
    KEY_INTERNAL_ACK,
    KEY_GUID_BITS,
    KEY_NETVER,
    KEY_RELIABLE_BUFFER,
    KEY_COUNT
};

static const struct ue_setting_row rows[KEY_COUNT] = {
    [KEY_MAGIC_BITS] = {"magic_bits", 32, "length of the magic header in bits", false},
    [KEY_MAGIC] = {"magic", UINT32_MAX,
                   "value of the magic header, first wire bit least significant; only senders use it", false},
    [KEY_SKIP_BYTES] = {"skip_bytes", 65535, "bytes of another protocol before every datagram", false},
    [KEY_MAX_PACKET] = {"max_packet", UE_MAX_PACKET_BYTES_MAX,
                        "largest packet in bytes, which bounds the bunch length; automatic = the generation's own",
                        true},
    [KEY_CH_SEQ_BOUND] = {"ch_seq_bound", 1u << 30, "bound of the channel sequence; automatic = 1024", true},
    [KEY_EXTRA_BITS] = {"extra_bits", UE_EXTRA_BITS_MAX,
                        "number of bits that a game added between ack history and packet info", false},
    [KEY_TERMINATORS] = {"terminators", 2, "termination bits of a packet, 1 or 2; automatic = 2", true},
    [KEY_HANDLERS] = {"handlers", 0,
                      "packet handlers, outermost first: oodle, aesgcm, aesgcm-bytes, aes-ecb, dtls, reliability; "
                      "unknown leaves the rest undecoded",
                      false},
    [KEY_INTERNAL_ACK] = {"internal_ack", 1, "replay packets: bunches without a packet header", false},
    [KEY_GUID_BITS] = {"guid_bits", 128,
                       "length of network ids in bits if it is fixed in the game, 128; automatic = packed", true},
    [KEY_NETVER] = {"netver", UE_NETWORK_VERSION_MAX,
                    "EngineNetVer, on which the content of messages depends; automatic = the lowest of the generation, "
                    "or found by "
                    "trial",
                    true},
    [KEY_RELIABLE_BUFFER] = {"reliable_buffer", 65535,
                             "reliable bunches in flight per channel; automatic = the generation's own", true},
};

const struct ue_setting_row *ue_setting_row(size_t index) {
    return index < KEY_COUNT ? &rows[index] : NULL;
}

static bool key_equals(const char *name, const char *key) {
    for (; *name != '\0'; name++, key++) {
        if (*name != (*key == '-' ? '_' : *key)) {
            return false;
        }
    }
    return *key == '\0';
}

static int digit_value(char digit) {
    if (digit >= '0' && digit <= '9') {
        return digit - '0';
    }
    if (digit >= 'a' && digit <= 'f') {
        return digit - 'a' + 10;
    }
    return digit >= 'A' && digit <= 'F' ? digit - 'A' + 10 : 16;
}

static bool parse_number(const char *text, uint64_t max, uint64_t *number) {
    bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    unsigned base = hex ? 16 : 10;
    text += hex ? 2 : 0;
    uint64_t value = 0;
    bool any = false;
    for (; *text != '\0'; text++, any = true) {
        unsigned digit = (unsigned)digit_value(*text);
        if (digit >= base) {
            return false;
        }
        value = value * base + digit;
        if (value > max) {
            return false;
        }
    }
    *number = value;
    return any;
}

static bool parse_switch(const char *text, uint64_t *number) {
    static const char *const yes[] = {"1", "true", "on", "yes"};
    static const char *const no[] = {"0", "false", "off", "no"};
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++) {
        if (strcmp(text, yes[i]) == 0 || strcmp(text, no[i]) == 0) {
            *number = strcmp(text, yes[i]) == 0;
            return true;
        }
    }
    return false;
}

static bool parse_value(enum key key, const char *value, struct ue_settings *settings, uint64_t *number) {
    if (rows[key].has_automatic && strcmp(value, "automatic") == 0) {
        *number = 0;
        return true;
    }
    switch (key) {
    case KEY_HANDLERS: return ue_handlers_parse(value, settings->handlers);
    case KEY_INTERNAL_ACK: return parse_switch(value, number);
    case KEY_CH_SEQ_BOUND: return parse_number(value, rows[key].max, number) && (*number & (*number - 1)) == 0;
    case KEY_GUID_BITS: return parse_number(value, rows[key].max, number) && (*number == 0 || *number == 128);
    default: return parse_number(value, rows[key].max, number);
    }
}

static void store(enum key key, uint64_t number, struct ue_settings *settings) {
    switch (key) {
    case KEY_MAGIC_BITS: settings->magic_bits = (uint8_t)number; break;
    case KEY_MAGIC: settings->magic = (uint32_t)number; break;
    case KEY_SKIP_BYTES: settings->skip_bytes = (uint32_t)number; break;
    case KEY_MAX_PACKET: settings->max_packet_bytes = (uint32_t)number; break;
    case KEY_CH_SEQ_BOUND: settings->ch_seq_bound = (uint32_t)number; break;
    case KEY_EXTRA_BITS: settings->extra_bits = (uint32_t)number; break;
    case KEY_TERMINATORS: settings->terminators = (uint8_t)number; break;
    case KEY_INTERNAL_ACK: settings->internal_ack = number != 0; break;
    case KEY_GUID_BITS: settings->guid_bits = (uint8_t)number; break;
    case KEY_NETVER: settings->netver = (uint8_t)number; break;
    case KEY_RELIABLE_BUFFER: settings->reliable_buffer = (uint32_t)number; break;
    case KEY_HANDLERS:
    case KEY_COUNT: break;
    }
}

enum ue_setting_result ue_settings_set(struct ue_settings *settings, const char *key, const char *value) {
    for (int i = 0; i < KEY_COUNT; i++) {
        if (key_equals(rows[i].key, key)) {
            uint64_t number = 0;
            if (!parse_value((enum key)i, value, settings, &number)) {
                return UE_SETTING_BAD_VALUE;
            }
            store((enum key)i, number, settings);
            return UE_SETTING_OK;
        }
    }
    return UE_SETTING_UNKNOWN;
}

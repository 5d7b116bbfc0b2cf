/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/prefs.h"

#include <epan/packet.h>
#include <epan/prefs.h>
#include <epan/uat.h>
#include <epan/wmem_scopes.h>
#include <wsutil/inet_addr.h>
#include <wsutil/report_message.h>

#include <uerudp/bunch.h>
#include <uerudp/settings.h>
#include "plugin/key_preferences.h"
#include "plugin/uat_text_columns.h"

#define SETTINGS_MAX 16
#define PORT_MAX 65535
#define AUTOMATIC "automatic" /* as the settings of libcodec accept it */
#define MAX_ITEMS_STOCK 10000 /* an ordinary packet has about a hundred; Wireshark stops at a million */

/* Columns of the table: address and port of the server, then its wire settings. */
enum { COLUMN_ADDRESS, COLUMN_PORT, COLUMN_GENERATION, COLUMN_SETTINGS, COLUMNS_MAX = COLUMN_SETTINGS + SETTINGS_MAX };

struct server_row {
    char *texts[COLUMNS_MAX];
    uint8_t address[16];
    size_t address_bytes; /* 0: any */
    uint16_t port;
    struct uerudp_prefs_wire wire;
};

static struct uerudp_prefs_wire default_wire;
static const char *generation_text = AUTOMATIC;
static unsigned max_items = MAX_ITEMS_STOCK;
static uerudp_callback_bool analyse = true;
static uerudp_callback_bool reassemble = true;

static range_t *follow_channels;

static struct server_row *servers;
static unsigned server_count;

static bool set_generation(struct uerudp_prefs_wire *wire, const char *text) {
    wire->generation = NULL;
    if (text == NULL || *text == '\0' || strcmp(text, "auto") == 0 || strcmp(text, AUTOMATIC) == 0) {
        return true;
    }
    wire->generation = ue_profile_find(text);
    return wire->generation != NULL;
}

/* ---- wire settings ---- */

enum setting_form { FORM_TEXT, FORM_LIST, FORM_NUMBER, FORM_SWITCH };

/* How a wire setting is edited. FORM_LIST is a text that older versions edited as a list: Wireshark saved a number and
   words, such as "128 bits (modified game)". */
struct setting_preference {
    const char *key, *title; /* key of struct ue_setting_row */
    enum setting_form form;
    const char *text;
    unsigned number;
    uerudp_callback_bool is_on;
};

/* In the order in which the page shows them. */
static struct setting_preference wire_preferences[] = {
    {"magic_bits", UERUDP_PREFS_MAGIC_BITS "; 0 = none", FORM_NUMBER, .number = 0},
    {"magic", "Value of the magic header", FORM_TEXT, .text = "0"},
    {"skip_bytes", "Bytes of another protocol before every datagram", FORM_NUMBER, .number = 0},
    {"extra_bits", "Bits that the game added after the ack history", FORM_NUMBER, .number = 0},
    {"max_packet", "Largest packet in bytes", FORM_TEXT, .text = AUTOMATIC},
    {"ch_seq_bound", "Bound of the channel sequence", FORM_TEXT, .text = AUTOMATIC},
    {"terminators", "Termination bits of a packet", FORM_LIST, .text = AUTOMATIC},
    {"guid_bits", "Bits of a network id", FORM_LIST, .text = AUTOMATIC},
    {"netver", "Network version of the engine (EngineNetVer)", FORM_TEXT, .text = AUTOMATIC},
    {"reliable_buffer", "Reliable bunches in flight per channel, at most", FORM_TEXT, .text = AUTOMATIC},
    {"internal_ack", "The packets are those of a replay", FORM_SWITCH, .is_on = false},
};

static struct setting_preference handlers_preference = {"handlers", UERUDP_PREFS_HANDLERS ", outermost first",
                                                        FORM_TEXT, .text = ""};

static const struct ue_setting_row *find_setting(const char *key) {
    size_t i = 0;
    while (strcmp(ue_setting_row(i)->key, key) != 0) {
        i++;
    }
    return ue_setting_row(i);
}

static void register_setting(module_t *module, struct setting_preference *preference) {
    const char *key = preference->key;
    const char *title = preference->title;
    const char *description = find_setting(key)->description;
    switch (preference->form) {
    case FORM_TEXT:
    case FORM_LIST: prefs_register_string_preference(module, key, title, description, &preference->text); break;
    case FORM_NUMBER: prefs_register_uint_preference(module, key, title, description, 10, &preference->number); break;
    case FORM_SWITCH: prefs_register_bool_preference(module, key, title, description, &preference->is_on); break;
    }
}

/* To be freed with g_free. */
static char *value_of(const struct setting_preference *preference) {
    switch (preference->form) {
    case FORM_TEXT: break;
    case FORM_LIST: return g_strndup(preference->text, strcspn(preference->text, " "));
    case FORM_NUMBER: return g_strdup_printf("%u", preference->number);
    case FORM_SWITCH: return g_strdup_printf("%u", (unsigned)preference->is_on);
    }
    return g_strdup(preference->text);
}

static void apply_setting(const struct setting_preference *preference) {
    g_autofree char *text = value_of(preference);
    if (ue_settings_set(&default_wire.settings, preference->key, text) != UE_SETTING_OK) {
        report_failure("uerudp.%s: %s is not a valid value: %s", preference->key, text,
                       find_setting(preference->key)->description);
    }
}

/* ---- preferences ---- */

static void apply(void) {
    default_wire = (struct uerudp_prefs_wire){0};
    if (!set_generation(&default_wire, generation_text)) {
        report_failure("uerudp.generation: %s is neither automatic nor a release from 4.13 to 5.8", generation_text);
    }
    for (size_t i = 0; i < G_N_ELEMENTS(wire_preferences); i++) {
        apply_setting(&wire_preferences[i]);
    }
    apply_setting(&handlers_preference);
    uerudp_decryption_apply_prefs();
}

/* "max_packet" becomes "Max packet", the title of a column; allocated for the lifetime of the program. */
static const char *title_of(const char *key) {
    char *title = wmem_strdup(wmem_epan_scope(), key);
    for (char *c = title; *c != '\0'; c++) {
        *c = *c == '_' ? ' ' : *c;
    }
    *title = g_ascii_toupper(*title);
    return title;
}

static void register_analysis(module_t *module) {
    prefs_register_static_text_preference(module, "group_analysis", "Analysis", "What the plugin computes");
    prefs_register_bool_preference(module, "analyse", "Analyse connections",
                                   "Track connections: lost packets, retransmissions, acknowledgements, whole messages",
                                   &analyse);
    prefs_register_bool_preference(module, "reassemble", "Reassemble messages that were sent in fragments",
                                   "Join the fragments of a message; needs the analysis of connections", &reassemble);
    range_convert_str(wmem_epan_scope(), &follow_channels, "0", UE_CHANNEL_MAX);
    prefs_register_range_preference(module, "follow_channel", "Channels that Follow shows",
                                    "Channels whose messages Follow shows when no sub-stream is selected",
                                    &follow_channels, UE_CHANNEL_MAX);
}

static void register_wire(module_t *module) {
    prefs_register_static_text_preference(module, "group_wire", "Wire format: what a capture does not show of the game",
                                          "Settings of servers that are not in the table");
    prefs_register_string_preference(module, "generation", "Generation",
                                     "automatic, or the engine release whose wire format is used, from 4.13 to 5.8",
                                     &generation_text);
    for (size_t i = 0; i < G_N_ELEMENTS(wire_preferences); i++) {
        register_setting(module, &wire_preferences[i]);
    }
}

static void register_handlers(module_t *module) {
    prefs_register_static_text_preference(module, "group_handlers", "Packet handlers and keys",
                                          "What encrypts or compresses packets");
    register_setting(module, &handlers_preference);
    uerudp_decryption_register(module);
}

static void register_max_items(module_t *module) {
    prefs_register_static_text_preference(module, "group_limits", "Limits", "What keeps Wireshark fast");
    prefs_register_uint_preference(module, "max_items", "Tree items of a datagram, at most",
                                   "Tree items that one datagram may have, and as many for the content of its "
                                   "messages; further items are only counted",
                                   10, &max_items);
}

uint32_t uerudp_prefs_max_items(void) {
    return MAX(max_items, 1);
}

/* ---- the table ---- */

static void *copy_server(void *to, const void *from, size_t size _U_) {
    struct server_row *copy = to;
    *copy = *(const struct server_row *)from;
    uerudp_uat_text_copy(copy->texts, COLUMNS_MAX);
    return copy;
}

static void free_server(void *record) {
    uerudp_uat_text_free(((struct server_row *)record)->texts, COLUMNS_MAX);
}

static bool parse_address(struct server_row *server, const char *text) {
    ws_in4_addr v4;
    ws_in6_addr v6;
    server->address_bytes = 0;
    if (text == NULL || *text == '\0') {
        return true;
    }
    if (ws_inet_pton4(text, &v4)) {
        server->address_bytes = sizeof v4;
        memcpy(server->address, &v4, sizeof v4);
    } else if (ws_inet_pton6(text, &v6)) {
        server->address_bytes = sizeof v6;
        memcpy(server->address, &v6, sizeof v6);
    }
    return server->address_bytes != 0;
}

static bool parse_port(struct server_row *server, const char *text) {
    uint64_t port = 0;
    bool valid = text != NULL && g_ascii_string_to_unsigned(text, 10, 1, PORT_MAX, &port, NULL);
    server->port = (uint16_t)port;
    return valid;
}

/* Checks and parses an edited row; *error is shown to the user. */
static uerudp_callback_bool update_server(void *record, char **error) {
    struct server_row *server = record;
    const struct ue_setting_row *row;
    *error = NULL;
    server->wire = (struct uerudp_prefs_wire){0};
    if (!parse_address(server, server->texts[COLUMN_ADDRESS])) {
        *error = g_strdup("Address is neither an IPv4 nor an IPv6 address; empty means any");
    } else if (!parse_port(server, server->texts[COLUMN_PORT])) {
        *error = g_strdup_printf("Port must be a number from 1 to %d", PORT_MAX);
    } else if (!set_generation(&server->wire, server->texts[COLUMN_GENERATION])) {
        *error = g_strdup("Generation is neither automatic nor a release from 4.13 to 5.8");
    }
    for (size_t i = 0; *error == NULL && (row = ue_setting_row(i)) != NULL && i < SETTINGS_MAX; i++) {
        const char *text = server->texts[COLUMN_SETTINGS + i];
        if (text != NULL && *text != '\0' && ue_settings_set(&server->wire.settings, row->key, text) != UE_SETTING_OK) {
            *error = g_strdup_printf("%s: %s is not a valid value: %s", row->key, text, row->description);
        }
    }
    return *error == NULL;
}

static void register_table(module_t *module) {
    static uat_field_t columns[COLUMNS_MAX + 1];
    const struct ue_setting_row *row;
    columns[COLUMN_ADDRESS] =
        uerudp_uat_text_column(COLUMN_ADDRESS, "address", "Address", "Address of the server; empty = any");
    columns[COLUMN_PORT] = uerudp_uat_text_column(COLUMN_PORT, "port", "Port", "UDP port of the server");
    columns[COLUMN_GENERATION] =
        uerudp_uat_text_column(COLUMN_GENERATION, "generation", "Generation", "automatic, or 4.13 to 5.8");
    for (unsigned i = 0; (row = ue_setting_row(i)) != NULL && i < SETTINGS_MAX; i++) {
        columns[COLUMN_SETTINGS + i] =
            uerudp_uat_text_column(COLUMN_SETTINGS + i, row->key, title_of(row->key), row->description);
    }
    uat_t *table =
        uat_new("Unreal Engine servers", sizeof(struct server_row), "uerudp_servers", true, &servers, &server_count,
                UAT_AFFECTS_DISSECTION, NULL, copy_server, update_server, free_server, NULL, NULL, columns);
    prefs_register_uat_preference(module, "servers", "Servers with settings of their own",
                                  "Settings by address and port; all their traffic is dissected as this protocol",
                                  table);
}

void uerudp_prefs_register(int proto) {
    module_t *module = prefs_register_protocol(proto, apply);
    register_analysis(module);
    register_wire(module);
    register_table(module);
    register_handlers(module);
    register_max_items(module);
}

bool uerudp_prefs_follows_channel(uint32_t channel) {
    return value_is_in_range(follow_channels, channel);
}

bool uerudp_prefs_analyse(void) {
    return analyse;
}

bool uerudp_prefs_reassemble(void) {
    return reassemble;
}

const struct uerudp_prefs_wire *uerudp_prefs_default_wire(void) {
    return &default_wire;
}

static bool is_server(const struct server_row *server, const address *addr, uint32_t port) {
    return server->port == port &&
           (server->address_bytes == 0 || (server->address_bytes == (size_t)addr->len &&
                                           memcmp(server->address, addr->data, server->address_bytes) == 0));
}

static enum uerudp_prefs_server_end find_server(const packet_info *pinfo, const struct uerudp_prefs_wire **wire) {
    for (unsigned i = 0; i < server_count; i++) {
        bool source = is_server(&servers[i], &pinfo->src, pinfo->srcport);
        if (source || is_server(&servers[i], &pinfo->dst, pinfo->destport)) {
            *wire = &servers[i].wire;
            return source ? UERUDP_PREFS_SERVER_SOURCE : UERUDP_PREFS_SERVER_DESTINATION;
        }
    }
    return UERUDP_PREFS_SERVER_NONE;
}

/* Called for every packet; most users have no table. */
enum uerudp_prefs_server_end uerudp_prefs_find_server(const packet_info *pinfo, const struct uerudp_prefs_wire **wire) {
    return server_count == 0 ? UERUDP_PREFS_SERVER_NONE : find_server(pinfo, wire);
}

static bool is_our_port(uint32_t port) {
    static dissector_table_t udp_ports;
    static dissector_handle_t handle;
    if (handle == NULL) {
        udp_ports = find_dissector_table("udp.port");
        handle = find_dissector("uerudp");
    }
    return dissector_get_uint_handle(udp_ports, port) == handle;
}

enum uerudp_prefs_server_end uerudp_prefs_server_by_port(const packet_info *pinfo) {
    bool source = is_our_port(pinfo->srcport);
    if (source == is_our_port(pinfo->destport)) {
        return UERUDP_PREFS_SERVER_NONE;
    }
    return source ? UERUDP_PREFS_SERVER_SOURCE : UERUDP_PREFS_SERVER_DESTINATION;
}

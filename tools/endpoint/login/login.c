/* SPDX-License-Identifier: MIT */
#include "tools/endpoint/login/login.h"

#include "tools/endpoint/core/connection.h"
#include "tools/endpoint/login/login_text.h"

#define MAX_CLIENT_RATE 100000
#define HELLO_BITS_MIN 16 /* type and endian byte */
#define UNIQUE_ID_PLAIN (1u << 3)
#define UNIQUE_ID_NONE (UE_UNIQUE_ID_ENCODED | UE_UNIQUE_ID_EMPTY)

/* ---- sending ---- */

/* A message with all the parameters that this generation has; zero until set. */
static struct ue_message new_message(const struct ue_login *l, uint8_t type) {
    return (struct ue_message){
        .type = type,
        .param_count = (uint8_t)ue_message_params(&l->conn->common.context, type),
    };
}

/* When not even a control message fits, nothing can follow. */
static void send_message(struct ue_login *l, uint64_t now_ns, const struct ue_message *message) {
    if (ue_conn_send_message(l->conn, now_ns, message) != UE_OK) {
        ue_conn_close(l->conn, now_ns, UE_CLOSE_CONTROL_QUEUE_OVERFLOW);
    }
}

static void send_text(struct ue_login *l, uint64_t now_ns, uint8_t type, const char *text) {
    uint8_t units[2 * UE_LOGIN_TEXT_BYTES];
    struct ue_message m = new_message(l, type);
    m.params[0].text = ue_text_from_utf8(text, units);
    send_message(l, now_ns, &m);
}

static void send_plain(struct ue_login *l, uint64_t now_ns, uint8_t type) {
    struct ue_message m = new_message(l, type);
    send_message(l, now_ns, &m);
}

static void fail(struct ue_login *l, uint64_t now_ns, enum ue_close_reason reason) {
    l->status.state = UE_LOGIN_FAILED;
    ue_conn_close(l->conn, now_ns, reason);
}

static void refuse_client(struct ue_login *l, uint64_t now_ns, const char *text, enum ue_close_reason reason) {
    ue_login_copy_text(l->status.failure, text, sizeof l->status.failure);
    ue_send_close_reason(&l->conn->sender, now_ns, reason, UE_CLOSE_NONE);
    send_text(l, now_ns, UE_MESSAGE_FAILURE, l->status.failure);
    fail(l, now_ns, reason);
}

static void admit(struct ue_login *l) {
    l->status.state = UE_LOGIN_DONE;
    ue_conn_admit(l->conn);
}

/* endpoint.md 1.6. */
static bool is_beacon(const struct ue_login *l) {
    return l->conn->common.config.driver == UE_DRIVER_BEACON;
}

/* ---- client ---- */

static void send_own_hello(struct ue_login *l, uint64_t now_ns) {
    uint8_t units[2 * UE_LOGIN_TEXT_BYTES];
    struct ue_message m = new_message(l, UE_MESSAGE_HELLO);
    m.params[UE_HELLO_LITTLE_ENDIAN].number = 1;
    m.params[UE_HELLO_NETWORK_VERSION].number = l->conn->common.config.network_version;
    m.params[UE_HELLO_ENCRYPTION_TOKEN].text = ue_text_from_utf8(l->config.encryption_token, units);
    m.params[UE_HELLO_FEATURES].number = l->conn->common.config.network_features;
    send_message(l, now_ns, &m);
}

/* endpoint.md 6.1. */
static void send_hello(struct ue_login *l, uint64_t now_ns) {
    if (l->config.hello != NULL) {
        send_message(l, now_ns, l->config.hello);
    } else {
        send_own_hello(l, now_ns);
    }
    l->status.state = UE_LOGIN_GREETED;
    ue_conn_flush(l->conn, now_ns);
}

static struct ue_unique_id unique_id_of(const char *utf8, uint8_t *units) {
    struct ue_unique_id id = {.flags = UNIQUE_ID_NONE};
    if (utf8 != NULL && *utf8 != 0) {
        id.flags = UNIQUE_ID_PLAIN;
        id.text = ue_text_from_utf8(utf8, units);
        id.size = (uint32_t)strlen(utf8); /* up to 4.19: anything above 0 */
    }
    return id;
}

static void send_own_login(struct ue_login *l, uint64_t now_ns) {
    uint8_t response[4], url_units[4 * UE_LOGIN_URL_BYTES];
    uint8_t id_units[2 * UE_LOGIN_TEXT_BYTES], platform_units[2 * UE_LOGIN_TEXT_BYTES];
    char url[2 * UE_LOGIN_URL_BYTES];
    ue_login_write_url(&l->config, url);
    struct ue_message m = new_message(l, UE_MESSAGE_LOGIN);
    m.params[UE_LOGIN_RESPONSE].text = ue_text_from_utf8("0", response);
    m.params[UE_LOGIN_URL].text = ue_text_from_utf8(url, url_units);
    m.unique_id = unique_id_of(l->config.unique_id, id_units);
    m.params[UE_LOGIN_PLATFORM].text = ue_text_from_utf8(l->config.platform, platform_units);
    send_message(l, now_ns, &m);
}

/* endpoint.md 6.3, 6.4. */
static void read_challenge(struct ue_login *l, uint64_t now_ns, const struct ue_message *message) {
    (void)message; /* any text: no cryptography, the answer is the same to each (protocol.md 12) */
    if (l->config.login != NULL) {
        send_message(l, now_ns, l->config.login);
    } else {
        send_own_login(l, now_ns);
    }
    l->status.state = UE_LOGIN_ASKED;
    ue_conn_flush(l->conn, now_ns);
}

/* endpoint.md 6.2. */
static void read_encryption_ack(struct ue_login *l, uint64_t now_ns, const struct ue_message *message) {
    (void)message;
    if (l->conn->common.encryption == NULL) {
        fail(l, now_ns, UE_CLOSE_PENDING_CONNECTION_FAILURE);
        return;
    }
    l->conn->sender.is_encrypting = true;
}

static void send_net_speed(struct ue_login *l, uint64_t now_ns) {
    struct ue_message m = new_message(l, UE_MESSAGE_NETSPEED);
    m.params[UE_NETSPEED_RATE].number = (uint32_t)l->conn->sender.budget.net_speed;
    send_message(l, now_ns, &m);
}

/* endpoint.md 6.5. */
static void read_welcome(struct ue_login *l, uint64_t now_ns, const struct ue_message *message) {
    ue_text_to_utf8(message->params[UE_WELCOME_MAP].text, l->status.map, sizeof l->status.map);
    ue_text_to_utf8(message->params[UE_WELCOME_GAME].text, l->status.game, sizeof l->status.game);
    ue_text_to_utf8(message->params[UE_WELCOME_REDIRECT_URL].text, l->status.redirect_url,
                    sizeof l->status.redirect_url);
    send_net_speed(l, now_ns);
    l->welcomed_ns = now_ns;
    l->status.state = UE_LOGIN_WELCOMED;
}

static void read_upgrade(struct ue_login *l, uint64_t now_ns, const struct ue_message *message) {
    l->status.peer_version = (uint32_t)message->params[UE_UPGRADE_NETWORK_VERSION].number;
    l->status.peer_features = (uint16_t)message->params[UE_UPGRADE_FEATURES].number;
    fail(l, now_ns, UE_CLOSE_UPGRADE);
}

static void read_failure(struct ue_login *l, uint64_t now_ns, const struct ue_message *message) {
    ue_text_to_utf8(message->params[UE_FAILURE_TEXT].text, l->status.failure, sizeof l->status.failure);
    fail(l, now_ns, UE_CLOSE_FAILURE_RECEIVED);
}

static void send_own_beacon_join(struct ue_login *l, uint64_t now_ns) {
    uint8_t type_units[2 * UE_LOGIN_TEXT_BYTES], id_units[2 * UE_LOGIN_TEXT_BYTES];
    struct ue_message m = new_message(l, UE_MESSAGE_BEACON_JOIN);
    m.params[UE_BEACON_JOIN_TYPE].text = ue_text_from_utf8(l->config.beacon_type, type_units);
    m.unique_id = unique_id_of(l->config.unique_id, id_units);
    send_message(l, now_ns, &m);
}

/* endpoint.md 6.9. */
static void read_beacon_welcome(struct ue_login *l, uint64_t now_ns, const struct ue_message *message) {
    (void)message;
    send_net_speed(l, now_ns);
    if (l->config.beacon_join != NULL) {
        send_message(l, now_ns, l->config.beacon_join);
    } else {
        send_own_beacon_join(l, now_ns);
    }
    l->status.state = UE_LOGIN_JOINING;
    ue_conn_flush(l->conn, now_ns);
}

/* endpoint.md 6.9. */
static void read_beacon_guid(struct ue_login *l, uint64_t now_ns, const struct ue_message *message) {
    l->status.peer_guid = message->params[UE_BEACON_ASSIGN_GUID_GUID].number;
    if (l->config.beacon_join != NULL) {
        struct ue_message m = new_message(l, UE_MESSAGE_BEACON_NET_GUID_ACK);
        m.params[UE_BEACON_NET_GUID_ACK_TYPE] = l->config.beacon_join->params[UE_BEACON_JOIN_TYPE];
        send_message(l, now_ns, &m);
    } else {
        send_text(l, now_ns, UE_MESSAGE_BEACON_NET_GUID_ACK, l->config.beacon_type);
    }
    admit(l);
    ue_conn_flush(l->conn, now_ns);
}

/* ---- server ---- */

/* Eight hexadecimal digits of a clock, as the engine's; clients give them no meaning (endpoint.md 6.3). */
static void send_challenge(struct ue_login *l, uint64_t now_ns) {
    static const char digits[] = "0123456789ABCDEF";
    char text[9] = {0};
    uint64_t clock = now_ns / 100;
    for (size_t i = 0; i < 8; i++) {
        text[i] = digits[clock >> (28 - 4 * i) & 15];
    }
    send_text(l, now_ns, UE_MESSAGE_CHALLENGE, text);
    l->status.state = UE_LOGIN_CHALLENGED;
    ue_conn_flush(l->conn, now_ns);
}

static bool is_compatible(const struct ue_login *l, const struct ue_message *hello) {
    const struct ue_conn_config *own = &l->conn->common.config;
    bool has_features = hello->param_count > UE_HELLO_FEATURES;
    return l->status.peer_version == own->network_version &&
           (!has_features || l->status.peer_features == own->network_features);
}

/* endpoint.md 6.2, 6.11. */
static void send_upgrade(struct ue_login *l, uint64_t now_ns) {
    struct ue_message m = new_message(l, UE_MESSAGE_UPGRADE);
    m.params[UE_UPGRADE_NETWORK_VERSION].number = l->conn->common.config.network_version;
    m.params[UE_UPGRADE_FEATURES].number = l->conn->common.config.network_features;
    if (is_beacon(l)) {
        m.param_count = 1; /* beacon hosts leave the features out (endpoint.md 6) */
    }
    send_message(l, now_ns, &m);
    fail(l, now_ns, UE_CLOSE_OUTDATED_CLIENT);
}

/* endpoint.md 6.2. */
static bool token_is_good(const struct ue_login *l) {
    const char *expected = l->config.encryption_token;
    if (l->status.token[0] == 0) {
        return !l->config.encryption_required;
    }
    return l->conn->common.encryption != NULL && (expected == NULL || strcmp(l->status.token, expected) == 0);
}

/* EncryptionAck leaves in clear, everything after it is encrypted (endpoint.md 6.2). */
static void begin_encryption(struct ue_login *l, uint64_t now_ns) {
    send_plain(l, now_ns, UE_MESSAGE_ENCRYPTION_ACK);
    ue_conn_flush(l->conn, now_ns);
    l->conn->sender.is_encrypting = true;
}

/* endpoint.md 6.2, 6.8. */
static void read_hello(struct ue_login *l, uint64_t now_ns, const struct ue_message *message) {
    l->status.peer_version = (uint32_t)message->params[UE_HELLO_NETWORK_VERSION].number;
    l->status.peer_features = (uint16_t)message->params[UE_HELLO_FEATURES].number;
    ue_text_to_utf8(message->params[UE_HELLO_ENCRYPTION_TOKEN].text, l->status.token, sizeof l->status.token);
    if (!is_compatible(l, message)) {
        send_upgrade(l, now_ns);
        return;
    }
    if (!token_is_good(l)) {
        refuse_client(l, now_ns, "Encryption failure", UE_CLOSE_PRE_LOGIN_FAILURE);
        return;
    }
    if (l->status.token[0] != 0) {
        begin_encryption(l, now_ns);
    }
    if (is_beacon(l) && !l->config.beacon_login) {
        ue_login_welcome(l, now_ns);
    } else {
        send_challenge(l, now_ns);
    }
}

/* endpoint.md 6.4. */
static void read_login(struct ue_login *l, uint64_t now_ns, const struct ue_message *message) {
    ue_text_to_utf8(message->params[UE_LOGIN_URL].text, l->status.url, sizeof l->status.url);
    ue_text_to_utf8(message->params[UE_LOGIN_PLATFORM].text, l->status.platform, sizeof l->status.platform);
    ue_unique_id_to_utf8(&message->unique_id, l->status.unique_id, sizeof l->status.unique_id);
    l->status.state = UE_LOGIN_ASKED;
    if (!l->config.decides) {
        ue_login_welcome(l, now_ns);
    }
}

/* endpoint.md 6.4, 6.8. */
void ue_login_welcome(struct ue_login *l, uint64_t now_ns) {
    uint8_t map[2 * UE_LOGIN_TEXT_BYTES], game[2 * UE_LOGIN_TEXT_BYTES], redirect[2 * UE_LOGIN_TEXT_BYTES];
    if (is_beacon(l)) {
        send_plain(l, now_ns, UE_MESSAGE_BEACON_WELCOME);
    } else {
        struct ue_message m = new_message(l, UE_MESSAGE_WELCOME);
        m.params[UE_WELCOME_MAP].text = ue_text_from_utf8(l->config.map, map);
        m.params[UE_WELCOME_GAME].text = ue_text_from_utf8(l->config.game, game);
        m.params[UE_WELCOME_REDIRECT_URL].text = ue_text_from_utf8(l->config.redirect_url, redirect);
        send_message(l, now_ns, &m);
    }
    l->welcomed_ns = now_ns;
    l->status.state = UE_LOGIN_WELCOMED;
    ue_conn_flush(l->conn, now_ns);
}

void ue_login_refuse(struct ue_login *l, uint64_t now_ns, const char *text) {
    refuse_client(l, now_ns, text,
                  l->status.state < UE_LOGIN_WELCOMED ? UE_CLOSE_PRE_LOGIN_FAILURE : UE_CLOSE_JOIN_FAILURE);
}

/* endpoint.md 30.5. */
static void read_net_speed(struct ue_login *l, uint64_t now_ns, const struct ue_message *message) {
    (void)now_ns;
    int32_t asked = (int32_t)(uint32_t)message->params[UE_NETSPEED_RATE].number;
    ue_conn_set_net_speed(l->conn, ue_net_speed_clamp(asked, l->config.max_client_rate));
}

/* endpoint.md 6.6. */
static void read_join(struct ue_login *l, uint64_t now_ns, const struct ue_message *message) {
    (void)now_ns;
    (void)message;
    admit(l);
}

/* endpoint.md 6.9. */
static void read_beacon_join(struct ue_login *l, uint64_t now_ns, const struct ue_message *message) {
    static const uint8_t no_guid[UINT8_MAX / 8 + 1];
    ue_text_to_utf8(message->params[UE_BEACON_JOIN_TYPE].text, l->status.beacon_type, sizeof l->status.beacon_type);
    ue_unique_id_to_utf8(&message->unique_id, l->status.unique_id, sizeof l->status.unique_id);
    struct ue_message m = new_message(l, UE_MESSAGE_BEACON_ASSIGN_GUID);
    m.params[UE_BEACON_ASSIGN_GUID_GUID].number = l->config.beacon_guid;
    m.params[UE_BEACON_ASSIGN_GUID_GUID].text.units = (struct ue_view){
        no_guid, 0, l->conn->common.context.settings.guid_bits}; /* a fixed width has no known layout */
    send_message(l, now_ns, &m);
    l->status.state = UE_LOGIN_JOINING;
    ue_conn_flush(l->conn, now_ns);
}

/* endpoint.md 6.9, 6.10. */
static void read_beacon_ack(struct ue_login *l, uint64_t now_ns, const struct ue_message *message) {
    char type[UE_LOGIN_TEXT_BYTES];
    ue_text_to_utf8(message->params[UE_BEACON_NET_GUID_ACK_TYPE].text, type, sizeof type);
    if (strcmp(type, l->status.beacon_type) != 0) {
        refuse_client(l, now_ns, "Join failure, unable to spawn beacon.", UE_CLOSE_JOIN_FAILURE);
        return;
    }
    admit(l);
}

/* ---- both ---- */

/* endpoint.md 32.4. */
static void read_close_reason(struct ue_login *l, uint64_t now_ns, const struct ue_message *message) {
    (void)now_ns;
    char text[UE_LOGIN_CLOSE_NAMES_MAX * 64];
    if (l->has_close_reason) {
        return;
    }
    l->has_close_reason = true;
    ue_text_to_utf8(message->params[UE_CLOSE_REASON_TEXT].text, text, sizeof text);
    if (ue_login_is_close_reason(text)) {
        ue_login_copy_text(l->status.close_reason, text, sizeof l->status.close_reason);
    }
}

static void ignore(struct ue_login *l, uint64_t now_ns, const struct ue_message *message) {
    (void)l;
    (void)now_ns;
    (void)message;
}

/* ---- the order ---- */

#define IN(state) (1u << UE_LOGIN_##state)
#define FROM_WELCOME_ON (IN(WELCOMED) | IN(JOINING) | IN(DONE))
#define ALWAYS UINT32_MAX

/* What a message means, and in which states it may come. Elsewhere a client ignores it: whatever a server repeats, it
   is answered once. */
struct login_rule {
    uint8_t type;
    uint32_t states;
    void (*read)(struct ue_login *l, uint64_t now_ns, const struct ue_message *message);
};

struct login_rules {
    const struct login_rule *rows;
    size_t count;
    bool is_strict; /* what has no row may come only after Welcome */
};

/* endpoint.md 6.7. */
static struct login_rules rules_of(const struct ue_login *l) {
    static const struct login_rule client[] = {
        {UE_MESSAGE_WELCOME, IN(GREETED) | IN(ASKED), read_welcome}, /* of a game; the next five are of both */
        {UE_MESSAGE_ENCRYPTION_ACK, IN(GREETED), read_encryption_ack},
        {UE_MESSAGE_CHALLENGE, IN(GREETED), read_challenge},
        {UE_MESSAGE_UPGRADE, ALWAYS, read_upgrade},
        {UE_MESSAGE_FAILURE, ALWAYS, read_failure},
        {UE_MESSAGE_CLOSE_REASON, ALWAYS, read_close_reason},
        {UE_MESSAGE_BEACON_WELCOME, IN(GREETED) | IN(ASKED), read_beacon_welcome},
        {UE_MESSAGE_BEACON_ASSIGN_GUID, IN(JOINING), read_beacon_guid},
    };
    static const struct login_rule game[] = {
        {UE_MESSAGE_HELLO, IN(IDLE), read_hello},
        {UE_MESSAGE_LOGIN, IN(CHALLENGED), read_login},
        {UE_MESSAGE_NETSPEED, FROM_WELCOME_ON, read_net_speed},
        {UE_MESSAGE_JOIN, IN(WELCOMED), read_join},
        {UE_MESSAGE_JOIN, IN(DONE), ignore}, /* the player exists already */
        {UE_MESSAGE_CLOSE_REASON, FROM_WELCOME_ON, read_close_reason},
    };
    static const struct login_rule beacon[] = {
        {UE_MESSAGE_HELLO, IN(IDLE), read_hello},
        {UE_MESSAGE_LOGIN, IN(CHALLENGED), read_login},
        {UE_MESSAGE_NETSPEED, FROM_WELCOME_ON, read_net_speed},
        {UE_MESSAGE_BEACON_JOIN, IN(WELCOMED), read_beacon_join},
        {UE_MESSAGE_BEACON_NET_GUID_ACK, IN(JOINING), read_beacon_ack},
        {UE_MESSAGE_CLOSE_REASON, FROM_WELCOME_ON, read_close_reason},
    };
    if (l->conn->common.config.role == UE_ROLE_CLIENT) {
        const size_t count = sizeof client / sizeof *client;
        return is_beacon(l) ? (struct login_rules){client + 1, count - 1, false}
                            : (struct login_rules){client, count - 2, false};
    }
    if (is_beacon(l)) {
        return (struct login_rules){beacon, sizeof beacon / sizeof *beacon, true};
    }
    return (struct login_rules){game, sizeof game / sizeof *game, true};
}

/* endpoint.md 6.7, 6.12. */
static void break_order(struct ue_login *l, uint64_t now_ns) {
    if (is_beacon(l)) {
        refuse_client(l, now_ns, "Join failure, unexpected message.", UE_CLOSE_JOIN_FAILURE);
    } else {
        fail(l, now_ns, UE_CLOSE_CONTROL_CHANNEL_MESSAGE_FAIL);
    }
}

static uint32_t state_bit(const struct ue_login *l) {
    return 1u << l->status.state;
}

/* endpoint.md 6.7. */
static void handle_message(struct ue_login *l, uint64_t now_ns, const struct ue_message *message) {
    struct login_rules rules = rules_of(l);
    bool is_misplaced = (state_bit(l) & FROM_WELCOME_ON) == 0;
    for (size_t i = 0; i < rules.count; i++) {
        if (rules.rows[i].type != message->type) {
            continue;
        }
        if ((rules.rows[i].states & state_bit(l)) != 0) {
            rules.rows[i].read(l, now_ns, message);
            return;
        }
        is_misplaced = true;
    }
    if (is_misplaced && rules.is_strict) {
        break_order(l, now_ns);
    }
}

static bool is_game_message(const struct ue_login *l, uint8_t type) {
    return (l->config.game_messages[type / 64] >> type % 64 & 1) != 0;
}

/* The byte order that a client announces counts for the whole connection; only this machine's own is spoken here
   (endpoint.md 21.3). */
static bool begins_with_hello(struct ue_view data) {
    return data.bits >= HELLO_BITS_MIN && ue_view_load(data, 0, 8) == UE_MESSAGE_HELLO && ue_view_load(data, 8, 8) == 1;
}

/* Returns whether the game wants to see the bunch (endpoint.md 21.3). */
static bool handle_messages(struct ue_login *l, uint64_t now_ns, struct ue_view data) {
    bool wanted = false;
    for (size_t bit = 0; bit < data.bits && l->conn->common.life.state != UE_CONN_CLOSED;) {
        struct ue_message message;
        struct ue_fault fault;
        enum ue_status status = ue_message_decode(&l->conn->common.context, data, &bit, &message, &fault);
        wanted |= is_game_message(l, message.type);
        if (status == UE_E_TYPE && is_game_message(l, message.type)) {
            break;
        }
        if (status != UE_OK) {
            fail(l, now_ns,
                 status == UE_E_TYPE ? UE_CLOSE_CONTROL_CHANNEL_MESSAGE_UNKNOWN
                                     : UE_CLOSE_CONTROL_CHANNEL_MESSAGE_FAIL);
            break;
        }
        handle_message(l, now_ns, &message);
    }
    return wanted;
}

static bool handle_bunch(void *user, struct ue_conn *c, uint64_t now_ns, const struct ue_event *bunch) {
    struct ue_login *l = user;
    if (c->common.config.role == UE_ROLE_SERVER && !l->has_received) {
        l->has_received = true;
        if (!begins_with_hello(bunch->data)) {
            fail(l, now_ns, UE_CLOSE_CONTROL_CHANNEL_ENDIAN_CHECK);
            return true;
        }
    }
    return !handle_messages(l, now_ns, bunch->data);
}

/* ---- the program's side ---- */

static bool fits(const char *text, size_t size_bytes) {
    return text == NULL || strlen(text) < size_bytes;
}

enum ue_status ue_login_check(const struct ue_conn_config *conn, const struct ue_login_config *config) {
    const char *texts[] = {config->map,      config->game,      config->redirect_url, config->player,
                           config->platform, config->unique_id, config->beacon_type,  config->encryption_token};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (!fits(texts[i], UE_LOGIN_TEXT_BYTES)) {
            return UE_E_LENGTH;
        }
    }
    if (!fits(config->url, UE_LOGIN_URL_BYTES)) {
        return UE_E_LENGTH;
    }
    unsigned netver = ue_settings_netver(&conn->settings, conn->profile);
    return conn->driver == UE_DRIVER_BEACON && netver >= UE_NETVER_BEACON_GUID ? UE_E_CONFLICT : UE_OK;
}

enum ue_status ue_login_init(struct ue_login *l, struct ue_conn *c, const struct ue_login_config *config) {
    enum ue_status status = ue_login_check(&c->common.config, config);
    if (status != UE_OK) {
        return status;
    }
    *l = (struct ue_login){.config = *config, .conn = c};
    if (l->config.max_client_rate == 0) {
        l->config.max_client_rate = MAX_CLIENT_RATE;
    }
    ue_conn_set_hook(c, handle_bunch, l);
    return UE_OK;
}

struct ue_login *ue_login_new(struct ue_conn *c, const struct ue_login_config *config) {
    struct ue_login *l = ue_share_alloc(&c->common.share, sizeof *l);
    if (l != NULL && ue_login_init(l, c, config) != UE_OK) {
        ue_share_free_block(&c->common.share, l);
        l = NULL;
    }
    return l;
}

void ue_login_free(struct ue_login *l) {
    if (l != NULL) {
        ue_conn_set_hook(l->conn, NULL, NULL);
        ue_share_free_block(&l->conn->common.share, l);
    }
}

const struct ue_login_status *ue_login_status(const struct ue_login *l) {
    static const struct ue_login_status idle = {.state = UE_LOGIN_IDLE};
    return l != NULL ? &l->status : &idle;
}

static bool is_client(const struct ue_login *l) {
    return l->conn->common.config.role == UE_ROLE_CLIENT;
}

/* What the server opens first is the player (HandleClientPlayer; endpoint.md 6.6). */
static bool has_actor(const struct ue_conn *c) {
    for (uint32_t i = 0; i < c->channels.capacity; i++) {
        const struct ue_channel *channel = ue_channel_at(&c->channels, i);
        if (channel != NULL && channel->kind == UE_KIND_ACTOR) {
            return true;
        }
    }
    return false;
}

/* endpoint.md 6.1, 6.5, 6.6. */
void ue_login_tick(struct ue_login *l, uint64_t now_ns) {
    if (!is_client(l) || l->conn->common.life.state != UE_CONN_PENDING) {
        return;
    }
    if (l->status.state == UE_LOGIN_IDLE) {
        send_hello(l, now_ns);
    } else if (l->status.state == UE_LOGIN_WELCOMED && now_ns - l->welcomed_ns >= l->config.load_ns) {
        send_plain(l, now_ns, UE_MESSAGE_JOIN);
        l->status.state = UE_LOGIN_JOINING;
    } else if (l->status.state == UE_LOGIN_JOINING && !is_beacon(l) && has_actor(l->conn)) {
        admit(l);
    }
}

uint64_t ue_login_deadline(const struct ue_login *l) {
    if (!is_client(l) || l->conn->common.life.state != UE_CONN_PENDING) {
        return UINT64_MAX;
    }
    if (l->status.state == UE_LOGIN_IDLE) {
        return 0;
    }
    return l->status.state == UE_LOGIN_WELCOMED ? l->welcomed_ns + l->config.load_ns : UINT64_MAX;
}

const char *ue_login_state_name(enum ue_login_state state) {
    static const char *const names[] = {
        [UE_LOGIN_IDLE] = "idle",   [UE_LOGIN_GREETED] = "greeted",   [UE_LOGIN_CHALLENGED] = "challenged",
        [UE_LOGIN_ASKED] = "asked", [UE_LOGIN_WELCOMED] = "welcomed", [UE_LOGIN_JOINING] = "joining",
        [UE_LOGIN_DONE] = "done",   [UE_LOGIN_FAILED] = "failed"};
    return names[state];
}

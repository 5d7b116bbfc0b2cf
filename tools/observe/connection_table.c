/* SPDX-License-Identifier: MIT */
#include "tools/observe/connection_table.h"

#include <stdio.h>

#include "tools/cli/wire_options.h"

/* An unproven handshake message, or a possible restart, waits for this many datagrams of its conversation. */
#define PATIENCE 64

/* What is known of two addresses. */
struct observe_address_pair {
    struct capture_address sides[2];       /* the lower one first */
    struct observe_connection *connection; /* the current one; NULL: none yet */
    struct ue_protocol_proof binding;
    GList link;        /* among the unproven ones, in the order of use; unused once there is a connection */
    bool is_forgotten; /* only unproven datagrams in the queue need it */
    unsigned waiting;  /* unproven datagrams in the queue */
    unsigned patience;
};

struct connection_table {
    const struct wire_options *options;
    GHashTable *pairs;   /* struct observe_address_pair by its sides */
    GHashTable *cookies; /* struct observe_connection by its latest cookie */
    GQueue connections;  /* those remembered, the one used last at the end */
    GQueue unproven;     /* pairs without a connection, likewise */
    uint32_t numbered;   /* stream numbers given */
    uint64_t moved;      /* of these, streams that turned out to continue another */
    uint64_t forgotten;
    size_t listed;
    struct connection_listing listings[CONNECTION_TABLE_LISTED_MAX];
    struct observe_address_pair *last; /* most datagrams come from the same pair as the one before */
    struct observe_datagram *head;
    struct observe_datagram **tail;
    size_t held;
    struct observe_datagram *spare; /* used up, to be used again */
    struct observe_datagram *out;   /* handed out last */
};

static guint hash_bytes(const void *bytes, size_t count) {
    const uint8_t *at = bytes;
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < count; i++) {
        hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
    }
    return (guint)(hash ^ hash >> 32);
}

static guint hash_pair(const void *key) {
    return hash_bytes(key, sizeof((struct observe_address_pair *)0)->sides);
}

static gboolean pairs_equal(const void *a, const void *b) {
    return memcmp(a, b, sizeof((struct observe_address_pair *)0)->sides) == 0;
}

static guint hash_cookie(const void *key) {
    return hash_bytes(key, UE_COOKIE_BYTES);
}

static gboolean cookies_equal(const void *a, const void *b) {
    return memcmp(a, b, UE_COOKIE_BYTES) == 0;
}

/* ---- forgetting ---- */

static void free_pair_when_unused(struct observe_address_pair *pair) {
    if (pair->is_forgotten && pair->waiting == 0) {
        g_free(pair);
    }
}

static void free_connection(struct observe_connection *connection) {
    g_free(connection->session);
    g_free(connection);
}

static void free_connection_when_unused(struct observe_connection *connection) {
    bool is_listed = connection->listing != NULL && connection->listing->latest == connection;
    if (connection->is_forgotten && !is_listed) {
        free_connection(connection);
    }
}

static void forget_pair(struct connection_table *flows, struct observe_address_pair *pair) {
    g_hash_table_remove(flows->pairs, pair->sides);
    flows->last = NULL;
    pair->patience = 0;
    pair->is_forgotten = true;
    free_pair_when_unused(pair);
}

/* Each use of another connection put a datagram into the queue, so that none of this one's is left there. */
_Static_assert(CONNECTION_TABLE_CONNECTIONS_MAX > CONNECTION_TABLE_PENDING_MAX, "the queue turns over earlier");

/* A connection takes its conversation with it: the next datagram would begin another. */
static void forget_connection(struct connection_table *flows, struct observe_connection *connection) {
    g_queue_unlink(&flows->connections, &connection->link);
    if (connection->has_cookie && g_hash_table_lookup(flows->cookies, connection->cookie) == connection) {
        g_hash_table_remove(flows->cookies, connection->cookie);
    }
    if (connection->pair != NULL) {
        forget_pair(flows, connection->pair);
    }
    connection->is_forgotten = true;
    free_connection_when_unused(connection);
}

static void use(GQueue *queue, GList *link) {
    if (queue->tail != link) {
        g_queue_unlink(queue, link);
        g_queue_push_tail_link(queue, link);
    }
}

static void forget_unproven(struct connection_table *flows, struct observe_address_pair *pair) {
    g_queue_unlink(&flows->unproven, &pair->link);
    forget_pair(flows, pair);
}

static void forget_oldest(struct connection_table *flows) {
    if (flows->connections.length > CONNECTION_TABLE_CONNECTIONS_MAX) {
        flows->forgotten++;
        forget_connection(flows, flows->connections.head->data);
    }
    if (flows->unproven.length > CONNECTION_TABLE_CONNECTIONS_MAX) {
        forget_unproven(flows, flows->unproven.head->data);
    }
}

/* ---- pairs and connections ---- */

static unsigned sort_sides(const struct capture_udp *udp, struct capture_address sides[2]) {
    unsigned side = memcmp(&udp->source, &udp->destination, sizeof udp->source) > 0;
    memset(sides, 0, 2 * sizeof *sides);
    sides[side] = udp->source;
    sides[!side] = udp->destination;
    return side;
}

static struct observe_address_pair *find_pair(struct connection_table *flows, const struct capture_address sides[2]) {
    if (flows->last == NULL || !pairs_equal(flows->last->sides, sides)) {
        flows->last = g_hash_table_lookup(flows->pairs, sides);
    }
    return flows->last;
}

static struct observe_address_pair *add_pair(struct connection_table *flows, const struct capture_address sides[2]) {
    struct observe_address_pair *pair = g_new0(struct observe_address_pair, 1);
    memcpy(pair->sides, sides, sizeof pair->sides);
    pair->link.data = pair;
    g_queue_push_tail_link(&flows->unproven, &pair->link);
    g_hash_table_insert(flows->pairs, pair->sides, pair);
    flows->last = pair;
    return pair;
}

/* -1 unless the ports leave no doubt. */
static int server_side_of(const struct connection_table *flows, const struct capture_address sides[2],
                          const struct user_profile *profile) {
    if (profile != NULL) {
        return capture_address_equal(&profile->server, &sides[1]);
    }
    bool zero = wire_options_is_server(flows->options, &sides[0]);
    bool one = wire_options_is_server(flows->options, &sides[1]);
    return zero == one ? -1 : one;
}

/* From now on the connection is that of the pair, which lives as long as it. */
static void connect_pair(struct connection_table *flows, struct observe_address_pair *pair,
                         struct observe_connection *connection) {
    struct observe_connection *former = pair->connection;
    if (former != NULL) {
        former->pair = NULL;
        connection->has_former = !former->is_continued;
        connection->former = former->stream;
    } else {
        g_queue_unlink(&flows->unproven, &pair->link);
    }
    pair->connection = connection;
    connection->pair = pair;
    connection->link.data = connection;
    g_queue_push_tail_link(&flows->connections, &connection->link);
}

static void learn_token(const struct observe_connection *connection, const struct observe_datagram *held) {
    struct ue_context context;
    if (connection->session != NULL && !connection->session->has_token) {
        ue_detection_context(&connection->flow, &held->link, &context);
        ue_cipher_session_learn(connection->session, &context, held->bytes, held->captured_bytes);
    }
}

static struct observe_connection *add_connection(struct connection_table *flows, struct observe_address_pair *pair) {
    const struct wire_options *options = flows->options;
    const struct user_profile *profile = wire_options_server_profile(options, &pair->sides[0], &pair->sides[1]);
    struct observe_connection *connection = g_new0(struct observe_connection, 1);
    const struct ue_profile *generation = options->generation;
    const struct ue_settings *settings = &options->settings;
    if (profile != NULL && options->generation_name == NULL) {
        generation = profile->has_base ? &profile->base : NULL;
        settings = &profile->settings;
    }
    ue_detection_init(&connection->flow, settings, generation, server_side_of(flows, pair->sides, profile));
    memcpy(connection->sides, pair->sides, sizeof connection->sides);
    connection->session = wire_options_new_session(options->cipher, connection->sides, &connection->flow);
    for (size_t i = 0; i < 2; i++) {
        capture_address_format(&pair->sides[i], connection->texts[i]);
    }
    connection->stream = flows->numbered++;
    if (flows->listed < CONNECTION_TABLE_LISTED_MAX) {
        connection->listing = &flows->listings[flows->listed++];
        connection->listing->latest = connection;
    }
    connect_pair(flows, pair, connection);
    return connection;
}

static void note_cookie(struct connection_table *flows, struct observe_connection *connection,
                        const struct ue_handshake_match *shape) {
    if (!shape->has_cookie) {
        return;
    }
    if (connection->has_cookie && g_hash_table_lookup(flows->cookies, connection->cookie) == connection) {
        g_hash_table_remove(flows->cookies, connection->cookie);
    }
    memcpy(connection->cookie, shape->cookie, sizeof connection->cookie);
    connection->has_cookie = true;
    g_hash_table_replace(flows->cookies, connection->cookie, connection);
}

static bool is_former(const struct connection_listing *listing, const char *address) {
    char **former = g_strsplit(listing->former, ", ", -1);
    bool found = g_strv_contains((const char *const *)former, address);
    g_strfreev(former);
    return found;
}

/* Where no room is left, an ellipsis stands for all that follow. */
static void note_former(struct connection_listing *listing, const char *address) {
    static const char ellipsis[] = "...";
    size_t length = strlen(listing->former);
    bool fits = length + CAPTURE_ADDRESS_TEXT_BYTES + sizeof ellipsis < CONNECTION_FORMER_BYTES;
    const char *text = fits ? address : ellipsis;
    if (!is_former(listing, address) && !is_former(listing, ellipsis)) {
        snprintf(listing->former + length, CONNECTION_FORMER_BYTES - length, "%s%s", length != 0 ? ", " : "", text);
    }
}

/* Notes the addresses of the earlier connection that the later one does not have. */
static void note_move(struct connection_listing *listing, const struct observe_connection *earlier,
                      const struct observe_connection *later) {
    for (size_t i = 0; i < 2; i++) {
        const struct capture_address *address = &earlier->sides[i];
        if (!capture_address_equal(address, &later->sides[0]) && !capture_address_equal(address, &later->sides[1])) {
            note_former(listing, earlier->texts[i]);
        }
    }
}

static void give_back_listing(struct connection_table *flows, struct connection_listing *listing) {
    *listing = (struct connection_listing){0};
    flows->listed -= listing == &flows->listings[flows->listed - 1];
}

/* Both are one in the list: the later one stands for both, in the place of the earlier one. */
static void move_listing(struct connection_table *flows, struct observe_connection *later,
                         struct observe_connection *earlier) {
    struct connection_listing *listing = earlier->listing;
    if (later->listing != NULL && later->listing->latest == later) {
        give_back_listing(flows, later->listing);
    }
    later->listing = listing;
    if (listing == NULL) {
        return;
    }
    struct observe_connection *before = listing->latest;
    note_move(listing, before, later);
    listing->datagrams += later->datagrams;
    listing->latest = later;
    free_connection_when_unused(before);
}

/* A client that moved to another address tells the cookie of the connection that it continues. */
static void link_restart(struct connection_table *flows, struct observe_connection *connection,
                         const struct ue_handshake_match *shape) {
    if (!shape->has_orig_cookie) {
        if (shape->restart && !connection->is_linked) {
            connection->patience = PATIENCE;
        }
        return;
    }
    struct observe_connection *earlier = g_hash_table_lookup(flows->cookies, shape->orig_cookie);
    connection->patience = 0;
    connection->is_linked = true;
    if (earlier == NULL || earlier->stream == connection->stream) {
        return;
    }
    earlier->is_continued = true;
    ue_detection_adopt(&connection->flow, &earlier->flow);
    ue_cipher_session_adopt(connection->session, earlier->session);
    ue_detection_release(&earlier->flow);
    connection->stream = earlier->stream;
    if (!connection->is_moved) { /* once, whatever a forger says later */
        connection->is_moved = true;
        flows->moved++;
        move_listing(flows, connection, earlier);
    }
}

/* ---- the queue ---- */

static struct observe_datagram *hold(struct connection_table *flows, const struct source_datagram *datagram,
                                     struct observe_address_pair *pair, unsigned side) {
    const struct capture_udp *udp = &datagram->udp;
    struct observe_datagram *held = flows->spare;
    if (held != NULL) {
        flows->spare = held->next;
    } else {
        held = g_new0(struct observe_datagram, 1);
    }
    if (held->bytes == NULL || held->capacity <= udp->captured_bytes) {
        g_free(held->bytes);
        held->capacity = udp->captured_bytes + 1;
        held->bytes = g_malloc(held->capacity);
    }
    memcpy(held->bytes, udp->payload, udp->captured_bytes);
    held->bytes[udp->captured_bytes] = 0;
    held->captured_bytes = udp->captured_bytes;
    held->length_bytes = udp->length_bytes;
    held->frame = datagram->frame;
    held->time_ns = datagram->time_ns;
    g_strlcpy(held->interface, datagram->interface != NULL ? datagram->interface : "", sizeof held->interface);
    held->side = side;
    held->pair = pair;
    held->connection = NULL;
    held->next = NULL;
    *flows->tail = held;
    flows->tail = &held->next;
    flows->held++;
    return held;
}

static void take_head(struct connection_table *flows, struct observe_datagram **to) {
    struct observe_datagram *held = flows->head;
    flows->head = held->next;
    if (flows->head == NULL) {
        flows->tail = &flows->head;
    }
    flows->held--;
    held->next = *to;
    *to = held;
}

static bool is_ready(const struct observe_datagram *held) {
    const struct observe_connection *connection = held->connection;
    return connection != NULL && connection->flow.is_released && connection->patience == 0;
}

/* Whether an unproven datagram can be forgotten. */
static bool is_hopeless(const struct observe_datagram *held) {
    return held->connection == NULL && held->pair->patience == 0;
}

/* The head of the queue will not be handed out. */
static void drop_head(struct connection_table *flows) {
    struct observe_datagram *held = flows->head;
    if (held->connection == NULL) {
        held->pair->waiting--;
        free_pair_when_unused(held->pair);
    }
    take_head(flows, &flows->spare);
}

/* What was handed out last is done with. */
static void recycle_out(struct connection_table *flows) {
    if (flows->out != NULL) {
        flows->out->next = flows->spare;
        flows->spare = flows->out;
        flows->out = NULL;
    }
}

static void stop_waiting(struct observe_connection *connection) {
    ue_detection_release(&connection->flow);
    connection->patience = 0;
}

/* The queue is full: its head waits no longer. */
static void push_out(struct connection_table *flows) {
    if (flows->head->connection != NULL) {
        stop_waiting(flows->head->connection);
    } else {
        flows->head->pair->patience = 0;
    }
}

const struct observe_datagram *connection_table_next(struct connection_table *flows) {
    recycle_out(flows);
    while (flows->head != NULL) {
        if (flows->held > CONNECTION_TABLE_PENDING_MAX) {
            push_out(flows);
        }
        if (is_ready(flows->head)) {
            take_head(flows, &flows->out);
            flows->out->link.packet_ids = ue_detection_packet_ids(&flows->out->connection->flow, &flows->out->link);
            return flows->out;
        }
        if (!is_hopeless(flows->head)) {
            return NULL;
        }
        drop_head(flows);
    }
    return NULL;
}

/* ---- datagrams ---- */

/* A client whose address changed goes on sending packets, until the server asks for a restart. */
static bool may_be_moved(const struct connection_table *flows, const struct observe_connection *connection,
                         const struct ue_handshake_match *shape) {
    return connection->datagrams == 0 && shape == NULL && g_hash_table_size(flows->cookies) != 0;
}

static void observe(struct connection_table *flows, struct observe_datagram *held,
                    struct observe_connection *connection, const struct ue_handshake_match *shape) {
    held->connection = connection;
    if (may_be_moved(flows, connection, shape)) {
        connection->patience = PATIENCE;
    }
    connection->datagrams++;
    if (connection->listing != NULL) {
        connection->listing->datagrams++;
    }
    connection->patience -= connection->patience > 0;
    if (held->captured_bytes < held->length_bytes) {
        ue_detection_feed_truncated(&connection->flow, held->side, &held->link);
        return;
    }
    ue_detection_feed(&connection->flow, held->side, held->bytes, held->captured_bytes, shape, &held->link);
    learn_token(connection, held);
    if (shape != NULL) {
        connection->has_handshake = true;
        link_restart(flows, connection, shape);
        note_cookie(flows, connection, shape);
    }
}

/* The conversation turned out to be ours: what waited for that is observed first, in its order. */
static void observe_waiting(struct connection_table *flows, struct observe_address_pair *pair) {
    for (struct observe_datagram *held = flows->head; held != NULL && pair->waiting > 0; held = held->next) {
        if (held->pair == pair && held->connection == NULL) {
            struct ue_handshake_match shape;
            bool is_handshake =
                ue_profile_match_handshake(&pair->connection->flow.settings, held->bytes, held->captured_bytes, &shape);
            observe(flows, held, pair->connection, is_handshake ? &shape : NULL);
            pair->waiting--;
        }
    }
}

static bool proves(const struct connection_table *flows, struct observe_address_pair *pair, unsigned side,
                   const struct capture_udp *udp, const struct ue_handshake_match *shape) {
    return shape != NULL ? ue_protocol_proof_add_handshake(&pair->binding, side, shape)
                         : ue_protocol_proof_add_packet(&pair->binding, &flows->options->settings, side, udp->payload,
                                                        udp->captured_bytes);
}

/* A conversation on no known port proves itself by its handshake, or waits for more. */
static void feed_unproven(struct connection_table *flows, const struct source_datagram *datagram,
                          const struct capture_address sides[2], struct observe_address_pair *pair, unsigned side) {
    const struct capture_udp *udp = &datagram->udp;
    struct ue_handshake_match found;
    bool matched = ue_profile_match_handshake(&flows->options->settings, udp->payload, udp->captured_bytes, &found);
    const struct ue_handshake_match *shape = matched ? &found : NULL;
    if (!matched && (pair == NULL || !ue_protocol_proof_needs_packets(&pair->binding))) {
        if (pair != NULL && pair->patience > 0) {
            pair->patience--;
        }
        return;
    }
    pair = pair != NULL ? pair : add_pair(flows, sides);
    use(&flows->unproven, &pair->link);
    if (proves(flows, pair, side, udp, shape)) {
        struct observe_connection *connection = add_connection(flows, pair);
        observe_waiting(flows, pair);
        observe(flows, hold(flows, datagram, pair, side), connection, shape);
        return;
    }
    hold(flows, datagram, pair, side);
    pair->waiting++;
    pair->patience = matched ? PATIENCE : pair->patience - (pair->patience > 0);
}

static void feed_known(struct connection_table *flows, const struct source_datagram *datagram,
                       struct observe_address_pair *pair, unsigned side) {
    const struct capture_udp *udp = &datagram->udp;
    struct observe_connection *connection = pair->connection;
    struct ue_handshake_match shape;
    use(&flows->connections, &connection->link);
    bool is_handshake =
        udp->captured_bytes == udp->length_bytes &&
        ue_profile_match_handshake(&connection->flow.settings, udp->payload, udp->captured_bytes, &shape);
    if (is_handshake && ue_detection_is_new_connection(&connection->flow, &shape)) {
        stop_waiting(connection);
        connection = add_connection(flows, pair);
    }
    observe(flows, hold(flows, datagram, pair, side), connection, is_handshake ? &shape : NULL);
}

static bool is_configured(const struct connection_table *flows, const struct capture_address sides[2]) {
    return wire_options_is_server(flows->options, &sides[0]) || wire_options_is_server(flows->options, &sides[1]) ||
           wire_options_server_profile(flows->options, &sides[0], &sides[1]) != NULL;
}

void connection_table_add(struct connection_table *flows, const struct source_datagram *datagram) {
    struct capture_address sides[2];
    unsigned side = sort_sides(&datagram->udp, sides);
    struct observe_address_pair *pair = find_pair(flows, sides);
    if (pair == NULL && is_configured(flows, sides)) {
        pair = add_pair(flows, sides);
        add_connection(flows, pair);
    }
    if (pair != NULL && pair->connection != NULL) {
        feed_known(flows, datagram, pair, side);
    } else if (datagram->udp.captured_bytes == datagram->udp.length_bytes) {
        feed_unproven(flows, datagram, sides, pair, side);
    }
    forget_oldest(flows);
}

uint64_t connection_table_oldest_frame(const struct connection_table *flows) {
    return flows->head != NULL ? flows->head->frame : UINT64_MAX;
}

void connection_table_flush(struct connection_table *flows) {
    for (struct observe_datagram *held = flows->head; held != NULL; held = held->next) {
        if (held->connection != NULL) {
            stop_waiting(held->connection);
        } else {
            held->pair->patience = 0;
        }
    }
}

/* ---- life ---- */

struct connection_table *connection_table_new(const struct wire_options *options) {
    struct connection_table *flows = g_new0(struct connection_table, 1);
    flows->options = options;
    flows->pairs = g_hash_table_new(hash_pair, pairs_equal);
    flows->cookies = g_hash_table_new(hash_cookie, cookies_equal);
    flows->tail = &flows->head;
    return flows;
}

static void free_list(struct observe_datagram *held) {
    while (held != NULL) {
        struct observe_datagram *next = held->next;
        g_free(held->bytes);
        g_free(held);
        held = next;
    }
}

void connection_table_free(struct connection_table *flows) {
    while (flows->head != NULL) {
        drop_head(flows);
    }
    recycle_out(flows);
    while (flows->connections.head != NULL) {
        forget_connection(flows, flows->connections.head->data);
    }
    while (flows->unproven.head != NULL) {
        forget_unproven(flows, flows->unproven.head->data);
    }
    for (size_t i = 0; i < flows->listed; i++) {
        if (flows->listings[i].latest != NULL) {
            free_connection(flows->listings[i].latest);
        }
    }
    free_list(flows->spare);
    g_hash_table_unref(flows->cookies);
    g_hash_table_unref(flows->pairs);
    g_free(flows);
}

const struct connection_listing *connection_table_listings(const struct connection_table *flows, size_t *count) {
    *count = flows->listed;
    return flows->listings;
}

uint64_t connection_table_stream_count(const struct connection_table *flows) {
    return flows->numbered - flows->moved;
}

uint64_t connection_table_forgotten_count(const struct connection_table *flows) {
    return flows->forgotten;
}

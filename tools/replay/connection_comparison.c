/* SPDX-License-Identifier: MIT */
#include "tools/replay/connection_comparison.h"

#include <uerudp/seq.h>

#define HIDDEN_CONTENT "its content is encrypted, compressed or in an unknown format"
#define GAP_MAX 1024 /* packets that may be missing in a row */
#define STRAYS_MAX 4
#define MALFORMED_SHARE 4           /* most malformed datagrams: one in this many */
#define FIRST_ID (INT64_C(4) << 14) /* packet ids here start well above 0 */

struct replay_connection *replay_connection_new(struct replay_check_context *all, const struct input_datagram *seen) {
    struct replay_connection *connection = g_new0(struct replay_connection, 1);
    connection->all = all;
    connection->stream = seen->connection->stream;
    g_strlcpy(connection->generation, seen->context.profile.name, sizeof connection->generation);
    unsigned sender = seen->observed->record.decode.side;
    for (unsigned role = 0; role < 2; role++) {
        struct replay_side *side = &connection->sides[role];
        const char *text = seen->texts->addresses[role == seen->role ? sender : !sender];
        g_strlcpy(connection->texts[role], text, sizeof connection->texts[role]);
        side->role = role;
        side->is_checked = all->is_checked[role];
        side->ignored = all->ignored;
        side->peer = &connection->sides[!role];
        replay_packet_ring_init(&side->ring, &all->budget);
    }
    return connection;
}

void replay_connection_free(struct replay_connection *connection) {
    if (connection != NULL) {
        replay_side_free(&connection->sides[0]);
        replay_side_free(&connection->sides[1]);
        g_free(connection);
    }
}

/* ---- handshake ---- */

static void set_expected_handshake(struct replay_side *side, const struct input_datagram *seen,
                                   const struct ue_datagram *recorded, const struct ue_handshake *expected) {
    struct replay_difference *d =
        replay_side_add_difference(side, REFERENCE_MODEL_DIFFERS_HANDSHAKE, seen->observed->frame, side->next);
    struct ue_datagram datagram = *recorded;
    if (d == NULL) {
        return;
    }
    datagram.handshake = *expected;
    d->condition = REPLAY_CONDITION_EARLIER;
    d->context = seen->context;
    d->actual_bytes = MIN(seen->size_bytes, sizeof d->actual);
    memcpy(d->actual, seen->bytes, d->actual_bytes);
    replay_difference_set_expected(d, &datagram);
    side->is_over = true;
}

static void remember(struct replay_cookies *cookies, const struct ue_handshake *message) {
    cookies->messages[cookies->count++ % REPLAY_COOKIES_MAX] = *message;
}

static bool same_cookie(const struct ue_handshake *a, const struct ue_handshake *b) {
    return memcmp(a->cookie, b->cookie, sizeof a->cookie) == 0;
}

static bool answers(const struct ue_handshake *response, const struct ue_handshake *challenge) {
    return response->secret_id == challenge->secret_id && response->timestamp == challenge->timestamp &&
           same_cookie(response, challenge);
}

/* An Ack carries the cookie of the Response; a restart carries it as the original cookie. */
static bool acknowledges(const struct ue_handshake *ack, const struct ue_handshake *response) {
    return memcmp(ack->cookie, response->has_orig_cookie ? response->orig_cookie : response->cookie,
                  sizeof ack->cookie) == 0;
}

/* Whether one of the messages fits. True also where that is unknown: none was captured, or one may be missing because
   the capture begins in the middle or because it was dropped. */
static bool fits_one(const struct replay_connection *connection, const struct replay_cookies *cookies,
                     const struct ue_handshake *message,
                     bool (*fits)(const struct ue_handshake *, const struct ue_handshake *)) {
    bool is_known = cookies->count != 0 && cookies->count <= REPLAY_COOKIES_MAX && !connection->begins_in_the_middle;
    for (unsigned i = 0; is_known && i < cookies->count; i++) {
        if (fits(message, &cookies->messages[i])) {
            return true;
        }
    }
    return !is_known;
}

static const struct ue_handshake *newest(const struct replay_cookies *cookies) {
    return &cookies->messages[(cookies->count - 1) % REPLAY_COOKIES_MAX];
}

/* Layout A0 begins with 0 (protocol.md 5.7). */
static void set_start(struct replay_connection *connection, const struct input_datagram *seen,
                      const struct ue_handshake *h) {
    bool is_derived = seen->context.profile.handshake != UE_HANDSHAKE_A0;
    connection->start.is_known = true;
    connection->start.sequences = is_derived ? ue_cookie_sequences(h->cookie) : (struct ue_sequences){0, 0};
}

/* A Response returns the values of a Challenge. */
static void handle_response(struct replay_connection *connection, const struct input_datagram *seen,
                            const struct ue_datagram *datagram) {
    const struct ue_handshake *h = &datagram->handshake;
    if (!fits_one(connection, &connection->challenges, h, answers)) {
        struct ue_handshake expected = *h;
        expected.secret_id = newest(&connection->challenges)->secret_id;
        expected.timestamp = newest(&connection->challenges)->timestamp;
        memcpy(expected.cookie, newest(&connection->challenges)->cookie, sizeof expected.cookie);
        set_expected_handshake(&connection->sides[0], seen, datagram, &expected);
    }
    bool is_other = connection->responses.count != 0 && !same_cookie(newest(&connection->responses), h);
    connection->has_other_responses |= is_other;
    remember(&connection->responses, h);
    if (!h->restart && !connection->has_ack) {
        set_start(connection, seen, h);
        connection->start.is_known = !connection->has_other_responses; /* the Ack shows which one the server accepted */
    }
}

static void handle_ack(struct replay_connection *connection, const struct input_datagram *seen,
                       const struct ue_datagram *datagram) {
    const struct ue_handshake *h = &datagram->handshake;
    if (!fits_one(connection, &connection->responses, h, acknowledges)) {
        const struct ue_handshake *response = newest(&connection->responses);
        struct ue_handshake expected = *h;
        memcpy(expected.cookie, response->has_orig_cookie ? response->orig_cookie : response->cookie,
               sizeof expected.cookie);
        set_expected_handshake(&connection->sides[1], seen, datagram, &expected);
    }
    if (!h->restart) {
        set_start(connection, seen, h);
        connection->has_ack = true;
    }
}

static void handle_handshake(struct replay_connection *connection, const struct input_datagram *seen,
                             const struct ue_datagram *datagram) {
    bool has_begun = connection->sides[0].oldest != 0 || connection->sides[1].oldest != 0;
    switch (datagram->handshake.type) {
    case UE_HANDSHAKE_CHALLENGE: remember(&connection->challenges, &datagram->handshake); break;
    case UE_HANDSHAKE_RESPONSE:
    case UE_HANDSHAKE_RESTART_RESPONSE:
        if (!has_begun || datagram->handshake.has_orig_cookie) {
            handle_response(connection, seen, datagram);
        }
        break;
    case UE_HANDSHAKE_ACK:
        if (!has_begun || datagram->handshake.restart) {
            handle_ack(connection, seen, datagram);
        }
        break;
    default: break;
    }
}

/* ---- packets ---- */

/* Where several generations fit, allows what the newest of them does. */
static void allow_newest_rules(struct ue_profile *profile, const struct input_datagram *seen) {
    uint16_t candidates =
        ue_detection_result_of(&seen->connection->detection, &seen->observed->record.decode)->candidates;
    for (size_t i = 0; i < UE_PROFILE_COUNT; i++) {
        const struct ue_profile *candidate = ue_profile_at(i);
        if ((candidates >> i & 1) != 0 && candidate->packet == profile->packet) {
            profile->acks = candidate->acks;
            profile->reliable_buffer = candidate->reliable_buffer;
        }
    }
}

/* Sets the context in which a side's packets are decoded. */
static void set_context(struct replay_side *side, const struct input_datagram *seen) {
    side->context = seen->context;
    allow_newest_rules(&side->context.profile, seen);
    side->context.direction = side->role == 0 ? UE_CLIENT_TO_SERVER : UE_SERVER_TO_CLIENT;
}

static bool is_read_alike(const struct ue_context *a, const struct ue_context *b) {
    return strcmp(a->profile.name, b->profile.name) == 0 && a->ch_seq_bound == b->ch_seq_bound &&
           a->data_bound == b->data_bound;
}

/* The detection changed the generation or other parameters: earlier comparisons may have misread packets. Both sides
   restart as if the capture began here. */
static void restart(struct replay_connection *connection, const struct input_datagram *seen) {
    connection->start.is_known = false;
    g_strlcpy(connection->generation, seen->context.profile.name, sizeof connection->generation);
    for (unsigned role = 0; role < 2; role++) {
        if (connection->sides[role].oldest != 0) {
            set_context(&connection->sides[role], seen);
            replay_side_reset(&connection->sides[role]);
        }
    }
}

/* Packet ids here start well above 0, near to what the other side acknowledges. */
static void start_side_ids(struct replay_side *side, const struct input_datagram *seen,
                           const struct ue_datagram *head) {
    uint16_t seq = head->packet.seq;
    int64_t id = ue_seq_expand(seq, side->peer->acked != 0 ? side->peer->acked : FIRST_ID + seq, UE_PACKET_SEQ_MAX);
    side->offset = seen->observed->record.decode.packet_ids.has_id
                       ? id - seen->observed->record.decode.packet_ids.packet_id
                       : id - seq;
    set_context(side, seen);
    side->prefix = head->prefix;
    side->oldest = side->newest = side->next = id;
}

#define ACKS_MAX 4096

/* A packet whose items are read before it is compared. */
struct header_items {
    struct replay_side *side;
    uint16_t acks[ACKS_MAX]; /* of a legacy packet */
    uint32_t ack_count;
};

static void add_header_item(void *user, const struct ue_item *item) {
    struct header_items *header_items = user;
    if (!item->is_ack) {
        header_items->side->starts_elsewhere |= !header_items->side->has_sent_control && item->bunch.channel != 0;
        header_items->side->has_sent_control |= item->bunch.reliable && item->bunch.channel == 0;
    } else if (header_items->ack_count < ACKS_MAX) {
        header_items->acks[header_items->ack_count++] = item->ack.ack_id;
    }
}

static void read_header_items(struct header_items *header_items, const struct input_datagram *seen,
                              const struct ue_packet *packet) {
    const struct ue_visitor visitor = {.item = add_header_item, .user = header_items};
    struct ue_decode_result result;
    if (!header_items->side->has_sent_control || packet->history_words == 0) {
        ue_datagram_decode(&seen->context, seen->bytes, seen->size_bytes, NULL, &visitor, &result);
    }
}

static bool store_packet(struct replay_side *side, const struct input_datagram *seen, const struct ue_datagram *head,
                         int64_t id, bool is_whole) {
    const struct ue_packet *packet = &head->packet;
    struct header_items header_items;
    bool is_premature = side->role == 1 && is_whole && !side->peer->has_sent_control;
    header_items.side = side;
    header_items.ack_count = 0;
    read_header_items(&header_items, seen, packet);
    struct replay_packet *stored = replay_packet_ring_insert(&side->ring, id, seen->bytes, seen->size_bytes,
                                                             header_items.acks, header_items.ack_count);
    if (stored == NULL) {
        side->obstacle = side->peer->obstacle = "too many packets wait for an acknowledgement";
        return false;
    }
    int64_t near = side->peer->newest != 0 ? side->peer->newest
                   : side->acked != 0      ? side->acked
                                           : FIRST_ID + packet->ack;
    stored->frame = seen->observed->frame;
    stored->time_ns = seen->observed->time_ns;
    stored->ack = ue_seq_expand(packet->ack, near, UE_PACKET_SEQ_MAX);
    stored->peer_newest = side->peer->newest != 0 ? replay_side_settled_id(side->peer) : stored->ack;
    stored->is_out_of_place = side->placement.arrivals[id & (PACKET_PLACEMENT_ARRIVALS - 1)].previous_id != id - 1;
    side->acked = packet->history_words != 0 ? stored->ack : 0;
    stored->reported =
        packet->history_flush ? ue_seq_expand(packet->acked_history_seq, near, UE_PACKET_SEQ_MAX) : stored->ack;
    stored->is_premature = is_premature;
    stored->session_id = head->prefix.session_id;
    stored->client_id = head->prefix.client_id;
    stored->words = packet->history_words;
    memcpy(stored->history, packet->history, sizeof stored->history);
    return true;
}

/* Whether a packet is far ahead of all others: it was damaged, or, when more such packets follow, the capture has a
   gap. */
static bool is_out_of_range(struct replay_side *side, int64_t id) {
    if (id - side->newest <= GAP_MAX) {
        side->out_of_range_count = 0;
        return false;
    }
    side->stray_ids[side->stray_count++ % REPLAY_SIDE_STRAYS] = id;
    if (++side->out_of_range_count == STRAYS_MAX) {
        side->obstacle = side->peer->obstacle = "more than 1024 packets are missing in a row";
    }
    return true;
}

static void report_misplaced(struct replay_side *side, const struct misplaced_packet *misplaced) {
    struct replay_difference *d =
        replay_side_add_difference(side, REFERENCE_MODEL_DIFFERS_PACKET_SEQ, misplaced->frame, misplaced->id);
    if (d == NULL) {
        return;
    }
    d->condition = misplaced->other_frame != 0 ? REPLAY_CONDITION_FRAME : REPLAY_CONDITION_NONE;
    d->suspect_frame = misplaced->other_frame;
    d->fields = "packet.seq";
    d->has_range = misplaced->expected_id != 0;
    d->range_first = d->range_last = ue_seq_of(misplaced->expected_id);
    d->recorded_value = ue_seq_of(misplaced->id);
}

/* A packet that was stored under a wrong id counts as missing. `id` is that of the packet after it. */
static void remove_misplaced(struct replay_side *side, const struct misplaced_packet *misplaced, int64_t id) {
    replay_packet_ring_remove(&side->ring, misplaced->id);
    for (size_t i = 0; i < REPLAY_SIDE_STRAYS; i++) {
        side->stray_ids[i] = side->stray_ids[i] == misplaced->id ? 0 : side->stray_ids[i];
    }
    if (side->newest == misplaced->id) {
        side->newest = MAX(side->placement.newest_id, side->next - 1);
    }
    if (side->oldest == misplaced->id && !side->has_begun) {
        side->oldest = side->next = id;
    }
}

/* Whether the packet is stored under its id: it is no duplicate, and its sequence fits its place. */
static bool is_placed(struct replay_connection *connection, struct replay_side *side, const struct input_datagram *seen,
                      int64_t id) {
    const struct replay_side_start *start = &connection->start;
    g_autoptr(GBytes) bytes = g_bytes_new_static(seen->bytes, seen->size_bytes);
    const struct placement_arrival arrival = {.id = id, .frame = seen->observed->frame, .hash = g_bytes_hash(bytes)};
    uint16_t first = side->role == 0 ? start->sequences.client : start->sequences.server;
    int64_t first_id = start->is_known ? ue_seq_expand(first, side->oldest, UE_PACKET_SEQ_MAX) : 0;
    struct misplaced_packet misplaced;
    if (!packet_placement_add(&side->placement, &arrival, first_id, &misplaced)) {
        return false;
    }
    if (misplaced.frame != 0) {
        report_misplaced(side, &misplaced);
    }
    if (misplaced.was_accepted) {
        remove_misplaced(side, &misplaced, id);
    }
    return !misplaced.is_this;
}

static void receive_packet(struct replay_connection *connection, const struct input_datagram *seen,
                           const struct ue_datagram *head) {
    struct replay_side *side = &connection->sides[seen->role];
    if (side->oldest != 0 && !is_read_alike(&side->context, &seen->context)) {
        restart(connection, seen);
    }
    if (side->oldest == 0) {
        start_side_ids(side, seen, head);
    }
    int64_t id = ue_seq_expand(head->packet.seq, side->newest, UE_PACKET_SEQ_MAX);
    if (!is_placed(connection, side, seen, id)) {
        return;
    }
    if (seen->observed->record.decode.packet_ids.has_id && id == side->newest + 1) {
        side->offset =
            id - seen->observed->record.decode.packet_ids.packet_id; /* equal, except for a wrap before the beginning */
    }
    bool is_needed = replay_side_is_active(side) || replay_side_is_active(side->peer);
    if (!is_needed || is_out_of_range(side, id)) {
        return;
    }
    bool is_known = replay_packet_ring_find(&side->ring, id) != NULL || id < side->ring.oldest;
    if (id <= 0 || is_known || side->newest - id >= REPLAY_PACKETS_MAX ||
        !store_packet(side, seen, head, id, connection->start.is_known)) {
        return;
    }
    side->newest = MAX(id, side->newest);
    side->overtaken = MAX(side->newest - id, side->overtaken);
    if (!side->has_begun && id < side->oldest) {
        side->oldest = side->next = id;
    }
    replay_side_compare(&connection->sides[0], &connection->start, false);
    replay_side_compare(&connection->sides[1], &connection->start, false);
}

/* ---- datagrams ---- */

/* Whether a handshake begins with this datagram. */
static bool is_initial(const struct input_datagram *seen) {
    struct ue_datagram head = {0};
    struct ue_item_range rest;
    struct ue_fault fault;
    return seen->result.fault.status == UE_OK &&
           ue_datagram_begin(&seen->context, seen->bytes, seen->size_bytes, &head, &rest, &fault) == UE_OK &&
           head.prefix.is_handshake && head.handshake.type == UE_HANDSHAKE_INITIAL;
}

static void receive_clear(struct replay_connection *connection, const struct input_datagram *seen) {
    struct ue_datagram head = {0};
    struct ue_item_range rest;
    struct ue_fault fault;
    connection->begins_in_the_middle |= connection->datagrams == 0 && !is_initial(seen);
    connection->datagrams++;
    if (seen->result.fault.status != UE_OK) {
        connection->malformed++;
        return;
    }
    if (ue_datagram_begin(&seen->context, seen->bytes, seen->size_bytes, &head, &rest, &fault) != UE_OK) {
        return;
    }
    if (head.prefix.is_handshake) {
        handle_handshake(connection, seen, &head);
    } else if (!seen->context.settings.internal_ack) {
        receive_packet(connection, seen, &head);
    }
}

static bool has_key(struct replay_check_context *all, enum ue_handler handler) {
    const uint8_t *key = all->cipher != NULL ? ue_cipher_key(all->cipher) : NULL;
    if (key == NULL || (all->encryption != NULL && memcmp(key, all->key, sizeof all->key) == 0)) {
        return key != NULL;
    }
    ue_encryption_free(all->encryption);
    memcpy(all->key, key, sizeof all->key);
    all->encryption = ue_encryption_new(handler, key);
    return all->encryption != NULL;
}

/* Decrypts a datagram. False: not possible. */
static bool decrypt(struct replay_check_context *all, struct input_datagram *seen) {
    bool was_clear;
    if (!seen->result.is_opened || seen->size_bytes > sizeof all->clear ||
        !has_key(all, ue_handlers_cipher(&seen->context.settings))) {
        return false;
    }
    seen->size_bytes =
        ue_encryption_decrypt(all->encryption, &seen->context, seen->bytes, seen->size_bytes, all->clear, &was_clear);
    seen->bytes = all->clear;
    return seen->size_bytes != 0 &&
           ue_datagram_decode(&seen->context, seen->bytes, seen->size_bytes, NULL, NULL, &seen->result) == UE_OK &&
           !seen->result.is_opaque; /* otherwise it is compressed, too */
}

/* Frees both sides when nothing of them will be compared any more. */
static void finish_if_over(struct replay_connection *connection) {
    if (!replay_side_is_active(&connection->sides[0]) && !replay_side_is_active(&connection->sides[1]) &&
        !connection->sides[0].is_finished) {
        replay_side_finish(&connection->sides[0]);
        replay_side_finish(&connection->sides[1]);
    }
}

/* A datagram that does not decrypt was damaged, if others of the connection do. */
static void receive_undecrypted(struct replay_connection *connection, const struct input_datagram *seen) {
    struct replay_side *side = &connection->sides[seen->role];
    connection->datagrams++;
    side->undecrypted++;
}

void replay_connection_receive(struct replay_connection *connection, const struct input_datagram *seen) {
    struct input_datagram clear = *seen;
    if (seen->is_foreign || (connection->sides[0].obstacle != NULL && connection->sides[1].obstacle != NULL)) {
        return;
    }
    clear.context.settings.decryptor = NULL;
    bool is_encrypted = seen->result.is_opaque;
    if (is_encrypted && connection->all->cipher != NULL && !seen->is_cut && !decrypt(connection->all, &clear)) {
        receive_undecrypted(connection, seen);
        return;
    }
    connection->has_decrypted |= is_encrypted;
    if (seen->is_cut || (is_encrypted && connection->all->cipher == NULL)) {
        connection->sides[0].obstacle = connection->sides[1].obstacle =
            seen->is_cut ? "its datagrams are cut by the snap length" : HIDDEN_CONTENT;
        finish_if_over(connection);
        return;
    }
    receive_clear(connection, &clear);
    finish_if_over(connection);
}

void replay_connection_end(struct replay_connection *connection) {
    for (unsigned role = 0; role < 2; role++) {
        replay_side_compare(&connection->sides[role], &connection->start, true);
    }
}

static uint64_t undecrypted(const struct replay_connection *connection) {
    return connection->sides[0].undecrypted + connection->sides[1].undecrypted;
}

/* Whether so much is malformed that the rest may fit by chance. */
static bool is_too_malformed(const struct replay_connection *connection) {
    return (connection->malformed + undecrypted(connection)) * MALFORMED_SHARE > connection->datagrams;
}

/* Implementations with only handshake and reliable layer ignore the rules about who may open which channel when. A
   server that sends before a client of which nothing else is known may be one. */
static bool has_no_login(const struct replay_connection *connection) {
    const struct replay_side *client = &connection->sides[0];
    const struct replay_difference *of_server = connection->sides[1].difference;
    bool is_premature = of_server != NULL && of_server->type == REFERENCE_MODEL_DIFFERS_PREMATURE;
    bool is_whole = connection->start.is_known && !connection->begins_in_the_middle;
    return is_whole && (client->starts_elsewhere || (is_premature && !client->has_sent_control));
}

const struct replay_difference *replay_connection_difference(const struct replay_connection *connection) {
    if (is_too_malformed(connection) || has_no_login(connection)) {
        return NULL;
    }
    const struct replay_difference *a = connection->sides[0].difference;
    const struct replay_difference *b = connection->sides[1].difference;
    return a == NULL || (b != NULL && b->frame < a->frame) ? b : a;
}

const char *replay_connection_obstacle(const struct replay_connection *connection, unsigned role) {
    const struct replay_side *side = &connection->sides[role];
    if (!side->is_checked) {
        return "not selected";
    }
    if (undecrypted(connection) != 0 && !connection->has_decrypted) {
        return HIDDEN_CONTENT;
    }
    if (is_too_malformed(connection)) {
        return "too many of its datagrams are malformed or do not decrypt; are the settings right?";
    }
    if (has_no_login(connection)) {
        return "its client did not open the control channel first, so it has no login";
    }
    if (side->obstacle != NULL) {
        return side->obstacle;
    }
    if (side->oldest == 0 || side->peer->oldest == 0) {
        return side->oldest == 0 ? "no packet of this side was captured" : "no packet of the other side was captured";
    }
    return !side->has_begun && side->difference == NULL ? "too few packets of this side were captured" : NULL;
}

bool replay_connection_is_compared(const struct replay_connection *connection) {
    return replay_connection_obstacle(connection, 0) == NULL || replay_connection_obstacle(connection, 1) == NULL;
}

/* SPDX-License-Identifier: MIT */
#include <string.h>

#include <uerudp/seq.h>

#include "libcodec/observe/observer_state.h"

/* A handshake message that is no proof, and a possible restart, waits for this many datagrams of its addresses. */
#define PATIENCE 64

void ue_connection_table_init(struct ue_observer *observer) {
    const struct ue_observer_options *options = &observer->options;
    ue_hash_table_init(&observer->pairs, &options->allocator, options->hash_seed);
    ue_hash_table_init(&observer->cookies, &options->allocator, options->hash_seed);
}

/* ---- forgetting ---- */

static void free_pair(struct ue_observer *observer, struct ue_address_pair *pair) {
    ue_hash_table_remove(&observer->pairs, &pair->link);
    observer->expecting -= ue_protocol_proof_needs_packets(&pair->proof);
    observer->latest = NULL;
    ue_observer_deallocate(observer, pair);
}

static void end_guess(struct ue_connection *connection) {
    if (connection->guessed_earlier != NULL) {
        connection->guessed_earlier->guessed_later = NULL;
        connection->guessed_earlier = NULL;
    }
}

/* The pair is forgotten, too: its next datagram begins another connection. */
static void forget(struct ue_observer *observer, struct ue_connection *connection) {
    ue_list_remove(connection->shown.is_proven ? &observer->proven : &observer->unproven, &connection->used);
    for (unsigned i = 0; i < connection->cookie_count; i++) {
        ue_hash_table_remove(&observer->cookies, &connection->cookies[i].link);
    }
    if (connection->pair != NULL) {
        free_pair(observer, connection->pair);
        connection->pair = NULL;
    }
    end_guess(connection);
    if (connection->guessed_later != NULL) {
        end_guess(connection->guessed_later);
    }
    connection->is_forgotten = true;
    connection->references++;
    ue_connection_stop_waiting(observer, connection);
    ue_connection_release(observer, connection);
}

static void forget_oldest(struct ue_observer *observer) {
    if (observer->options.is_reread) {
        return;
    }
    if (observer->proven.count > observer->connections_max) {
        observer->forgotten++;
        forget(observer, ue_list_first(&observer->proven));
    }
    if (observer->unproven.count > observer->connections_max) {
        forget(observer, ue_list_first(&observer->unproven));
    }
}

void ue_connection_table_clear(struct ue_observer *observer) {
    while (observer->proven.first != NULL) {
        forget(observer, ue_list_first(&observer->proven));
    }
    while (observer->unproven.first != NULL) {
        forget(observer, ue_list_first(&observer->unproven));
    }
    ue_recognition_clear(&observer->recognition, &observer->options.allocator);
    ue_hash_table_clear(&observer->pairs);
    ue_hash_table_clear(&observer->cookies);
}

/* ---- pairs of addresses ---- */

static bool is_equal(const struct ue_address *a, const struct ue_address *b) {
    return memcmp(a, b, sizeof *a) == 0;
}

/* Whether a pair has these addresses; *side is that of the source. */
static bool is_pair(const struct ue_address_pair *pair, const struct ue_captured_datagram *captured, unsigned *side) {
    *side = !is_equal(&pair->sides[0], &captured->source) || !is_equal(&pair->sides[1], &captured->destination);
    return *side == 0 ||
           (is_equal(&pair->sides[1], &captured->source) && is_equal(&pair->sides[0], &captured->destination));
}

/* Equal for both directions. */
static uint64_t hash_of(const struct ue_observer *observer, const struct ue_captured_datagram *captured) {
    return ue_hash_table_hash(&observer->pairs, &captured->source, sizeof captured->source) +
           ue_hash_table_hash(&observer->pairs, &captured->destination, sizeof captured->destination);
}

static struct ue_address_pair *find_pair(struct ue_observer *observer, const struct ue_captured_datagram *captured,
                                         unsigned *side) {
    if (observer->latest != NULL && is_pair(observer->latest, captured, side)) {
        return observer->latest;
    }
    const struct ue_hash_link *link = ue_hash_table_find(&observer->pairs, hash_of(observer, captured));
    while (link != NULL && !is_pair(link->element, captured, side)) {
        link = ue_hash_table_find_next(link);
    }
    return link != NULL ? observer->latest = link->element : NULL;
}

static struct ue_address_pair *add_pair(struct ue_observer *observer, const struct ue_captured_datagram *captured) {
    struct ue_address_pair *pair = ue_observer_allocate(observer, sizeof *pair);
    if (pair == NULL) {
        return NULL;
    }
    *pair = (struct ue_address_pair){.sides = {captured->source, captured->destination}};
    if (!ue_hash_table_insert(&observer->pairs, &pair->link, hash_of(observer, captured), pair)) {
        ue_observer_deallocate(observer, pair);
        return NULL;
    }
    return observer->latest = pair;
}

/* ---- connections ---- */

static void begin_detection(struct ue_observer *observer, struct ue_connection *connection, unsigned side) {
    const struct ue_observer_options *options = &observer->options;
    struct ue_observed_connection *shown = &connection->shown;
    struct ue_connection_settings chosen = {.settings = options->settings, .server_side = -1};
    if (options->choose != NULL) {
        options->choose(options->user, shown->sides, side, &chosen);
    }
    ue_detection_init(&shown->detection, chosen.settings, chosen.generation, chosen.server_side);
    shown->detection.start = &observer->start;
    if (options->decryption != NULL) {
        connection->decryptor =
            options->decryption->begin(options->decryption->user, shown->sides, &shown->detection.settings);
    }
    if (connection->decryptor != NULL) {
        shown->decryptor = shown->detection.settings.decryptor = connection->decryptor;
    }
    ue_connection_begin_comparison(observer, connection);
}

static struct ue_connection *add_connection(struct ue_observer *observer, struct ue_address_pair *pair,
                                            const struct ue_captured_datagram *captured, unsigned side) {
    size_t size_bytes = sizeof(struct ue_connection) + observer->options.user_bytes;
    struct ue_connection *connection = ue_observer_allocate(observer, size_bytes);
    if (connection == NULL) {
        return NULL;
    }
    memset(connection, 0, size_bytes);
    memcpy(connection->shown.sides, pair->sides, sizeof pair->sides);
    connection->shown.first_frame = captured->frame;
    connection->pair = pair;
    begin_detection(observer, connection, side);
    ue_list_push(&observer->unproven, &connection->used, connection);
    struct ue_connection *former = pair->connection;
    pair->connection = connection;
    if (former != NULL) {
        former->pair = NULL;
        ue_connection_stop_waiting(observer, former);
    }
    return connection;
}

/* The connection gets a stream number, and packets need not prove anything any more. */
static void prove(struct ue_observer *observer, struct ue_connection *connection) {
    if (!connection->shown.is_proven) {
        struct ue_protocol_proof *proof = &connection->pair->proof;
        observer->expecting -= ue_protocol_proof_needs_packets(proof);
        proof->patience = 0;
        ue_list_remove(&observer->unproven, &connection->used);
        ue_list_push(&observer->proven, &connection->used, connection);
        connection->shown.is_proven = true;
        connection->shown.stream = observer->numbered++;
        connection->patience = 0;
    }
}

/* Whether the client may try again: the server answered the handshake, and then sent no packet. Without any datagram of
   the server, the capture may have only one direction. */
static bool is_failed_attempt(const struct ue_connection *connection, uint16_t next_profiles) {
    bool is_same_generation = (connection->shown.detection.possible & next_profiles) != 0;
    return connection->shown.is_proven && connection->has_challenge && !connection->has_joined && is_same_generation;
}

/* Another attempt of a client counts as the same connection, with other packet ids. */
static void repeat_attempt(struct ue_observer *observer, struct ue_connection *connection,
                           const struct ue_connection *former) {
    ue_list_remove(&observer->unproven, &connection->used);
    ue_list_push(&observer->proven, &connection->used, connection);
    connection->shown.is_proven = true;
    connection->shown.stream = former->shown.stream;
    connection->is_repeated = true;
}

/* Begins another session of the addresses, of which no handshake was captured. */
static struct ue_connection *begin_session(struct ue_observer *observer, struct ue_connection *former,
                                           const struct ue_captured_datagram *captured, unsigned side) {
    const struct ue_detection earlier = former->shown.detection; /* before it is released, likewise the other */
    const struct ue_detection automatic = former->automatic != NULL ? *former->automatic : earlier;
    struct ue_connection *next = add_connection(observer, former->pair, captured, side);
    if (next == NULL) {
        return NULL;
    }
    ue_detection_begin_session(&next->shown.detection, &earlier);
    if (next->shown.detection.given.automatic != NULL) {
        ue_detection_begin_session(next->automatic, &automatic);
    }
    if (is_failed_attempt(former, earlier.possible)) {
        repeat_attempt(observer, next, former);
    } else if (former->shown.is_proven) {
        prove(observer, next);
    }
    return next;
}

/* ---- restarts ---- */

static struct ue_connection *find_by_cookie(const struct ue_observer *observer, const uint8_t *cookie) {
    const struct ue_hash_table *cookies = &observer->cookies;
    const struct ue_hash_link *link = ue_hash_table_find(cookies, ue_hash_table_hash(cookies, cookie, UE_COOKIE_BYTES));
    for (; link != NULL; link = ue_hash_table_find_next(link)) {
        struct ue_connection *connection = link->element;
        for (unsigned i = 0; i < UE_CONNECTION_COOKIES; i++) {
            if (link == &connection->cookies[i].link &&
                memcmp(connection->cookies[i].bytes, cookie, UE_COOKIE_BYTES) == 0) {
                return connection;
            }
        }
    }
    return NULL;
}

static void remember_cookie(struct ue_observer *observer, struct ue_connection *connection, const uint8_t *bytes) {
    struct ue_connection *owner = find_by_cookie(observer, bytes);
    if (owner == connection) {
        return;
    }
    struct ue_connection_cookie *cookie = &connection->cookies[connection->cookie_next];
    if (connection->cookie_count == UE_CONNECTION_COOKIES) {
        ue_hash_table_remove(&observer->cookies, &cookie->link);
        connection->cookie_count--;
    }
    memcpy(cookie->bytes, bytes, sizeof cookie->bytes);
    uint64_t hash = ue_hash_table_hash(&observer->cookies, bytes, sizeof cookie->bytes);
    if (ue_hash_table_insert(&observer->cookies, &cookie->link, hash, connection)) {
        connection->cookie_count++;
        connection->cookie_next = (connection->cookie_next + 1) % UE_CONNECTION_COOKIES;
    }
}

/* Each connection continues one, and none after another one continues it: else restarts that a forger sends could form
   a circle, in which no connection has the number of its stream. */
static bool may_continue(const struct ue_connection *connection, const struct ue_connection *earlier) {
    bool is_same_stream = connection->shown.is_proven && earlier->shown.stream == connection->shown.stream;
    return earlier->shown.is_proven && earlier != connection && !connection->is_moved && !connection->is_continued &&
           !is_same_stream;
}

/* The cookie proves that a connection continues the earlier one, or its packets tell. */
static void continue_earlier(struct ue_observer *observer, struct ue_connection *connection,
                             struct ue_connection *earlier) {
    const struct ue_decryption *decryption = observer->options.decryption;
    if (earlier->guessed_later != NULL) {
        end_guess(earlier->guessed_later); /* what disproves the guess must not end this */
    }
    prove(observer, connection);
    ue_detection_adopt(&connection->shown.detection, &earlier->shown.detection);
    if (connection->decryptor != NULL && earlier->decryptor != NULL) {
        decryption->adopt(decryption->user, connection->decryptor, earlier->decryptor);
    }
    ue_stream_join(observer, connection, earlier);
    connection->shown.stream = earlier->shown.stream;
    connection->is_moved = true;
    earlier->is_continued = true;
    observer->moved += !connection->is_repeated;
    ue_connection_stop_waiting(observer, earlier);
}

/* Connections that are compared with one whose cookie is not known: those used last. */
#define COMPARED_MAX 256
/* Packets that may be missing in the capture before the client is seen at its new address. */
#define MOVE_STEP_MAX 256

static bool follows(uint16_t seq, int64_t last_seq) {
    int32_t step = ue_seq_difference(seq, ue_seq_of(last_seq), UE_PACKET_SEQ_MAX);
    return step >= 0 && step <= MOVE_STEP_MAX;
}

/* Whether a client of the same server may go on as `side` of this connection: its sequences and acks follow. */
static bool may_follow(const struct ue_connection *connection, unsigned side, const struct ue_connection *earlier) {
    const struct ue_observed_connection *new = &connection->shown, *old = &earlier->shown;
    bool is_first = is_equal(&old->sides[1], &new->sides[!side]);
    unsigned old_side = is_first ? 0 : 1;
    const struct ue_detection_side *now = &new->detection.sides[side];
    const struct ue_detection_side *before = &old->detection.sides[old_side];
    bool is_same_server = is_first || is_equal(&old->sides[0], &new->sides[!side]);
    return is_same_server && may_continue(connection, earlier) && !earlier->is_continued &&
           (new->detection.possible & old->detection.possible) != 0 && now->has_id && before->has_id &&
           now->has_acked && before->has_acked && follows(ue_seq_of(now->last_id), before->last_id) &&
           follows(now->acked, before->acked);
}

/* The only connection that may go on as this one, of which cookies_max cookies are known at most; NULL: none, or
 * several.
 */
static struct ue_connection *find_by_sequences(const struct ue_observer *observer,
                                               const struct ue_connection *connection, unsigned side,
                                               unsigned cookies_max) {
    struct ue_connection *found = NULL;
    unsigned compared = 0;
    for (const struct ue_list_link *link = observer->proven.last; link != NULL && compared < COMPARED_MAX;
         link = link->previous, compared++) {
        const struct ue_connection *earlier = link->element;
        if (earlier->cookie_count <= cookies_max && may_follow(connection, side, earlier)) {
            if (found != NULL) {
                return NULL;
            }
            found = link->element;
        }
    }
    return found;
}

static void request_restart(struct ue_observer *observer, struct ue_connection *connection, unsigned server_side) {
    struct ue_connection *earlier = find_by_sequences(observer, connection, !server_side, UE_CONNECTION_COOKIES);
    if (earlier != NULL) {
        continue_earlier(observer, connection, earlier);
        connection->guessed_earlier = earlier;
        earlier->guessed_later = connection;
    } else {
        connection->patience = PATIENCE;
    }
}

/* Ends what sequences joined, if a cookie proves that the connection continues this one. */
static void check_guess(struct ue_observer *observer, struct ue_connection *connection,
                        const struct ue_connection *proven) {
    struct ue_connection *guessed = connection->guessed_earlier;
    if (guessed != NULL && proven->shown.is_proven && proven->shown.stream != connection->shown.stream &&
        !connection->is_continued) {
        connection->is_moved = false;
        guessed->is_continued = false;
        observer->moved -= !connection->is_repeated;
    }
    end_guess(connection);
}

/* A client that moved to other addresses sends the cookie of the connection that it continues. Until it does, which a
   client that began less than ten seconds ago delays (endpoint.md 5.2), its packets tell. */
static void feed_restart(struct ue_observer *observer, struct ue_connection *connection, unsigned side,
                         const struct ue_handshake_match *match) {
    if (!match->has_orig_cookie) {
        if (match->restart && !connection->is_linked) {
            request_restart(observer, connection, side);
        }
        return;
    }
    struct ue_connection *earlier = find_by_cookie(observer, match->orig_cookie);
    if (earlier != NULL) {
        check_guess(observer, connection, earlier);
    }
    earlier = earlier != NULL ? earlier : find_by_sequences(observer, connection, side, 0);
    connection->patience = 0;
    connection->is_linked = true;
    if (earlier != NULL && may_continue(connection, earlier)) {
        continue_earlier(observer, connection, earlier);
    }
}

/* ---- datagrams ---- */

/* A client whose addresses changed goes on sending packets until the server answers with a restart request. */
static void wait_for_restart(const struct ue_observer *observer, struct ue_connection *connection, unsigned side,
                             bool is_handshake) {
    bool is_first = connection->shown.datagrams == 0;
    if (is_first && !is_handshake && observer->proven.count > 1) {
        connection->is_unanswered = true;
        connection->patience = PATIENCE;
    } else if (connection->is_unanswered && (side != 0 || is_handshake)) {
        connection->is_unanswered = false;
        connection->patience = 0;
    }
}

static void detect_cut(struct ue_detection *detection, const struct ue_captured_datagram *captured, unsigned side,
                       struct ue_decode_state *decode) {
    struct ue_detection_head head = {.captured_bytes = captured->captured_bytes, .size_bytes = captured->length_bytes};
    if (head.size_bytes > UE_DETECTION_HEAD_BYTES) {
        head.is_shortened = true;
        head.size_bytes = UE_DETECTION_HEAD_BYTES;
    }
    if (head.captured_bytes >= head.size_bytes) {
        head.captured_bytes = head.size_bytes - 1;
    }
    if (head.captured_bytes != 0) {
        memcpy(head.bytes, captured->bytes, head.captured_bytes);
    }
    head.bytes[head.size_bytes - 1] = ue_observer_terminator(&detection->settings);
    ue_detection_feed_truncated(detection, side, &head, decode);
}

static void detect_one(struct ue_detection *detection, const struct ue_captured_datagram *captured, unsigned side,
                       const struct ue_handshake_match *match, struct ue_decode_state *decode) {
    if (captured->captured_bytes < captured->length_bytes) {
        detect_cut(detection, captured, side, decode);
    } else {
        ue_detection_feed(detection, side, captured->bytes, captured->captured_bytes, match, decode);
    }
}

/* The detection without what the caller gave sees each datagram first. */
static void compare_given(const struct ue_connection *connection, const struct ue_captured_datagram *captured,
                          unsigned side, const struct ue_handshake_match *match) {
    struct ue_decode_state ignored;
    if (connection->compared == NULL) {
        return;
    }
    detect_one(connection->automatic, captured, side, match, &ignored);
    if (connection->compared != &connection->shown.detection) {
        detect_one(connection->compared, captured, side, match, &ignored);
    }
}

static void detect(struct ue_observer *observer, struct ue_connection *connection,
                   const struct ue_captured_datagram *captured, unsigned side, const struct ue_handshake_match *match,
                   struct ue_decode_state *decode) {
    const struct ue_decryption *decryption = observer->options.decryption;
    struct ue_detection *detection = &connection->shown.detection;
    observer->start.is_valid = false;
    compare_given(connection, captured, side, match);
    detect_one(detection, captured, side, match, decode);
    bool is_whole = captured->captured_bytes >= captured->length_bytes;
    if (connection->decryptor != NULL && is_whole && !decode->is_other_session) {
        decryption->learn(decryption->user, connection->decryptor, detection, decode, captured->bytes,
                          captured->captured_bytes);
    }
}

static bool is_proof(struct ue_observer *observer, struct ue_address_pair *pair,
                     const struct ue_captured_datagram *captured, unsigned side,
                     const struct ue_handshake_match *match) {
    struct ue_protocol_proof *proof = &pair->proof;
    bool needed_packets = ue_protocol_proof_needs_packets(proof);
    bool is_complete = false;
    if (match != NULL) {
        is_complete = ue_protocol_proof_add_handshake(proof, side, match);
    } else if (needed_packets) {
        is_complete = ue_protocol_proof_add_packet(proof, &pair->connection->shown.detection.settings, side,
                                                   captured->bytes, captured->captured_bytes);
    }
    observer->expecting = observer->expecting - needed_packets + ue_protocol_proof_needs_packets(proof);
    return is_complete;
}

/* Until the protocol is proven, handshake messages and packets that may prove it wait; others are not accepted. */
static bool is_accepted(struct ue_connection *connection, const struct ue_captured_datagram *captured, bool is_match) {
    if (connection->shown.is_proven || captured->is_ours) {
        return true;
    }
    bool is_whole = captured->captured_bytes == captured->length_bytes;
    bool may_prove = is_whole && (is_match || ue_protocol_proof_needs_packets(&connection->pair->proof));
    connection->patience = is_match ? PATIENCE : connection->patience - (connection->patience > 0);
    return may_prove;
}

/* Every accepted datagram counts, also those that are no evidence of the generation. */
static void count(struct ue_observer *observer, struct ue_connection *connection) {
    if (++connection->shown.datagrams == UE_DETECTION_HELD_MAX) {
        ue_connection_end_detection(connection);
    }
    ue_connection_end_comparison(observer, connection);
}

static void learn_progress(struct ue_connection *connection, unsigned side, bool is_handshake) {
    struct ue_observed_connection *shown = &connection->shown;
    shown->has_handshake |= is_handshake;
    if (shown->detection.server_side == (int)side) {
        connection->has_challenge |= is_handshake;
        connection->has_joined |= !is_handshake;
    }
}

/* Returns the connection of the datagram: another one if it begins another session. */
static struct ue_connection *accept(struct ue_observer *observer, struct ue_connection *connection,
                                    const struct ue_captured_datagram *captured, unsigned side,
                                    const struct ue_handshake_match *match, struct ue_decode_state *decode) {
    bool is_proven = connection->shown.is_proven;
    detect(observer, connection, captured, side, match, decode);
    if (decode->is_echo) {
        count(observer, connection);
        return connection;
    }
    if (!is_proven && (captured->is_ours || is_proof(observer, connection->pair, captured, side, match))) {
        prove(observer, connection);
    }
    struct ue_connection *next = decode->is_other_session ? begin_session(observer, connection, captured, side) : NULL;
    if (next != NULL) {
        connection = next;
        detect(observer, connection, captured, side, match, decode);
    }
    if (connection->shown.is_proven) {
        ue_list_move_to_end(&observer->proven, &connection->used);
        connection->patience -= connection->patience > 0;
        wait_for_restart(observer, connection, side, match != NULL);
    } else {
        ue_list_move_to_end(&observer->unproven, &connection->used);
    }
    learn_progress(connection, side, match != NULL);
    count(observer, connection);
    if (match != NULL) {
        feed_restart(observer, connection, side, match);
        if (match->has_cookie) {
            remember_cookie(observer, connection, match->cookie);
        }
    }
    return connection;
}

static bool match_handshake(const struct ue_settings *settings, const struct ue_captured_datagram *captured,
                            struct ue_handshake_match *match) {
    return captured->captured_bytes == captured->length_bytes &&
           !ue_profile_match_is_too_long(settings, captured->captured_bytes) &&
           ue_profile_match_handshake(settings, captured->bytes, captured->captured_bytes, match);
}

static struct ue_connection *require_connection(struct ue_observer *observer, struct ue_address_pair *pair,
                                                const struct ue_captured_datagram *captured, unsigned side,
                                                struct ue_handshake_match *match, bool *is_match) {
    struct ue_connection *connection = pair->connection;
    if (connection == NULL) {
        connection = add_connection(observer, pair, captured, side);
    }
    if (connection == NULL) {
        free_pair(observer, pair);
        return NULL;
    }
    *is_match = match_handshake(&connection->shown.detection.settings, captured, match);
    if (*is_match && ue_detection_is_new_connection(&connection->shown.detection, match)) {
        struct ue_connection *next = add_connection(observer, pair, captured, side);
        if (next != NULL) {
            ue_detection_follow(&next->shown.detection, &connection->shown.detection);
        }
        if (next != NULL && is_failed_attempt(connection, match->profiles)) {
            repeat_attempt(observer, next, connection);
        }
        connection = next != NULL ? next : connection;
    }
    return connection;
}

/* Whether the packets of addresses without connection are proof without handshake. */
static bool is_recognised(struct ue_observer *observer, const struct ue_captured_datagram *captured) {
    const struct ue_observer_options *options = &observer->options;
    return ue_recognition_is_awake(&observer->recognition, captured->frame) &&
           ue_recognition_feed(&observer->recognition, &options->allocator, options->settings, captured,
                               hash_of(observer, captured));
}

/* Finds or begins the connection of a datagram. */
static struct ue_connection *find_or_begin(struct ue_observer *observer, const struct ue_captured_datagram *captured,
                                           unsigned *side, struct ue_handshake_match *match, bool *is_match) {
    struct ue_address_pair *pair = find_pair(observer, captured, side);
    bool is_proof = false;
    if (pair == NULL) {
        *side = 0;
        bool may_begin = captured->is_ours || match_handshake(observer->options.settings, captured, match);
        is_proof = !may_begin && is_recognised(observer, captured);
        pair = may_begin || is_proof ? add_pair(observer, captured) : NULL;
    }
    struct ue_connection *connection =
        pair != NULL ? require_connection(observer, pair, captured, *side, match, is_match) : NULL;
    if (connection != NULL && is_proof) {
        prove(observer, connection);
    }
    return connection;
}

struct ue_connection *ue_connection_table_feed(struct ue_observer *observer,
                                               const struct ue_captured_datagram *captured,
                                               struct ue_decode_state *decode) {
    struct ue_handshake_match match;
    bool is_match = false;
    unsigned side = 0;
    struct ue_connection *connection = find_or_begin(observer, captured, &side, &match, &is_match);
    if (connection == NULL) {
        return NULL;
    }
    bool accepted = is_accepted(connection, captured, is_match);
    if (accepted) {
        connection = accept(observer, connection, captured, side, is_match ? &match : NULL, decode);
    }
    ue_connection_update_turn(observer, connection);
    forget_oldest(observer);
    return accepted ? connection : NULL;
}

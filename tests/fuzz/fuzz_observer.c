/* SPDX-License-Identifier: MIT */
/* The observer with datagrams of many connections, in the form of observer_input.h. What it returns, reports and keeps
   is compared with what was fed. prove.sh plants bugs in the sources of the observer, see plant.py. */
#include <stdlib.h>
#include <string.h>

#include <uerudp/observer.h>
#include "libcodec/observe/observer_state.h"
#include "tests/fuzz/observer_input.h"
#include "tests/fuzz/require.h"
#include "tests/support/counting_allocator.h"
#include "tests/support/recorder.h"

#define DATAGRAMS_MAX 300
#define CONNECTIONS_MAX (2 * DATAGRAMS_MAX)
#define FRAME_STEP 3 /* so that a number that is no frame is noticed */
#define TICK_NS INT64_C(1000000)
#define LATE_NS (UE_OBSERVER_SILENT_NS / 2 + 1)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct fed_datagram {
    uint8_t *bytes; /* a copy, with the terminator if it is cut */
    size_t size_bytes;
    size_t captured_bytes;
    bool is_cut;
    bool is_accepted;
    bool is_due; /* accepted, and its connection is proven: must be returned */
    bool is_returned;
    bool is_tracked;
    bool has_packet;
    unsigned side;
    int64_t packet_id;
    struct ue_datagram_record record;
    uint64_t hash;
    unsigned connection; /* index */
};

struct seen_connection {
    const struct ue_observed_connection *shown;
    bool is_referenced;
    uint64_t accepted;
    uint64_t last_frame; /* returned last */
};

/* The caller's bytes of a connection. */
struct connection_user {
    unsigned number; /* index + 1 */
};

struct observer_session {
    struct observer_input_options options;
    struct counting_allocator memory;
    struct ue_observer *observer;
    struct fed_datagram fed[DATAGRAMS_MAX];
    size_t count;
    struct seen_connection connections[CONNECTIONS_MAX];
    unsigned connection_count;
    size_t decryptor_count;
    uint64_t last_frame; /* returned last */
    int64_t now_ns;
    const struct fed_datagram *tracked; /* now */
    struct ue_observed_items items;
};

static struct observer_session session;

static struct fed_datagram *fed_of(uint64_t frame) {
    REQUIRE(frame % FRAME_STEP == 1 && frame / FRAME_STEP < session.count);
    return &session.fed[frame / FRAME_STEP];
}

/* ---- hooks ---- */

static bool decrypt_nothing(void *user, const struct ue_ciphertext *sealed, struct ue_plaintext *opened) {
    return false;
}

/* Each session is a block, so that the sanitizer finds every use after its end. */
static struct ue_decryptor *begin_decryption(void *user, const struct ue_address sides[2],
                                             const struct ue_settings *settings) {
    REQUIRE(user == &session && settings->decryptor == NULL);
    if (sides[0].port % 2 != 0 && sides[0].size_bytes == sides[1].size_bytes) {
        return NULL;
    }
    struct ue_decryptor *decryptor = malloc(sizeof *decryptor);
    *decryptor = (struct ue_decryptor){decrypt_nothing, decryptor};
    session.decryptor_count++;
    return decryptor;
}

static void end_decryption(void *user, struct ue_decryptor *decryptor) {
    REQUIRE(user == &session && decryptor->user == decryptor);
    free(decryptor);
    session.decryptor_count--;
}

static void adopt_decryption(void *user, struct ue_decryptor *decryptor, const struct ue_decryptor *earlier) {
    REQUIRE(user == &session && decryptor->user == decryptor && earlier->user == earlier && decryptor != earlier);
}

static void learn_decryption(void *user, struct ue_decryptor *decryptor, const struct ue_detection *detection,
                             const struct ue_decode_state *state, const uint8_t *bytes, size_t size_bytes) {
    REQUIRE(user == &session && decryptor->user == decryptor && detection->settings.decryptor == decryptor);
    REQUIRE(state->side < 2 && (size_bytes == 0 || bytes != NULL));
}

static const struct ue_decryption decryption = {begin_decryption, end_decryption, adopt_decryption, learn_decryption,
                                                &session};

/* Some connections have other settings than the observer's, and some a given generation. */
static void choose(void *user, const struct ue_address sides[2], unsigned sender,
                   struct ue_connection_settings *chosen) {
    static const struct ue_settings other = {.magic_bits = 4};
    REQUIRE(user == &session && sender < 2 && chosen->settings == &session.options.settings);
    const struct ue_address *client = &sides[sender];
    unsigned host = client->size_bytes != 0 ? client->bytes[client->size_bytes - 1] : 0;
    chosen->server_side = session.options.server_side;
    chosen->generation = host == 1 ? session.options.generation : NULL;
    if (host > 4) {
        chosen->settings = &other;
    }
}

/* ---- connections ---- */

static bool is_valid(const struct seen_connection *connection) {
    return session.options.is_reread || connection->is_referenced;
}

static struct seen_connection *connection_of(const struct fed_datagram *fed) {
    return &session.connections[fed->connection];
}

/* Finds or adds the connection of an accepted datagram by its user bytes, which are zero at first. */
static unsigned see_connection(const struct ue_observed_connection *shown) {
    struct connection_user *user = ue_observer_user(shown);
    if (user->number == 0) {
        user->number = ++session.connection_count;
        session.connections[user->number - 1] = (struct seen_connection){.shown = shown};
        if (session.options.is_referenced) {
            ue_observer_reference(shown);
            session.connections[user->number - 1].is_referenced = true;
        }
    }
    REQUIRE(user->number <= session.connection_count && session.connections[user->number - 1].shown == shown);
    return user->number - 1;
}

static void release_connection(struct seen_connection *connection) {
    if (connection->is_referenced) {
        ue_observer_release(session.observer, connection->shown);
        connection->is_referenced = false;
    }
}

/* ---- decoding ---- */

static uint64_t fold(uint64_t hash, uint64_t word) {
    return (hash ^ word) * UINT64_C(0x100000001b3);
}

/* Decodes a datagram from its record, and returns a hash of every field. */
static uint64_t decode(const struct fed_datagram *fed, const struct ue_datagram_record *record) {
    static struct recorder recorder;
    const struct ue_detection *detection = &record->connection->detection;
    struct ue_context context;
    struct ue_decode_result result;
    struct ue_trace sink = recorder_sink(&recorder);
    struct ue_packet_ids ids = ue_detection_packet_ids(detection, &record->decode);
    ue_detection_context(detection, &record->decode, &context);
    ue_datagram_trace(&context, fed->bytes, fed->size_bytes, &ids, &sink, &result);
    uint64_t hash = fold(fold((uint64_t)result.fault.status, result.item_count), (uint64_t)context.direction);
    for (size_t i = 0; i < recorder.count; i++) {
        const struct ue_record *field = &recorder.records[i].record;
        hash = fold(fold(fold(hash, field->field), field->bit), field->number);
    }
    return hash;
}

static void decode_again(struct fed_datagram *fed, bool is_current) {
    if (fed->is_accepted && (is_current || is_valid(connection_of(fed)))) {
        uint64_t hash = decode(fed, &fed->record);
        REQUIRE(hash == decode(fed, &fed->record));
    }
}

/* ---- events ---- */

/* A frame of an event, if there is one, is that of a datagram which was tracked. */
static const struct fed_datagram *tracked_of(uint64_t frame) {
    if (frame == 0) {
        return NULL;
    }
    const struct fed_datagram *fed = fed_of(frame);
    REQUIRE(fed->is_returned && fed->is_tracked);
    return fed;
}

static void check_packet(uint64_t frame, int64_t packet_id, unsigned side) {
    const struct fed_datagram *fed = tracked_of(frame);
    REQUIRE(fed == NULL || (fed->has_packet && fed->packet_id == packet_id && fed->side == side));
}

static void check_message(const struct ue_observed_message *message) {
    for (uint32_t i = 0; i < message->fragment_count; i++) {
        REQUIRE(tracked_of(message->fragments[i].frame) != NULL);
    }
}

/* Acks that had to be confirmed are of the earlier packet that held them. */
static bool is_confirmed_ack(const struct ue_observed_event *event) {
    const struct fed_datagram *holder = tracked_of(event->frame);
    return (event->type == UE_OBSERVED_ACK || event->type == UE_OBSERVED_NAK) && holder != NULL &&
           holder < session.tracked && holder->packet_id == event->packet_id;
}

static void on_event(void *user, const struct ue_observed_event *event) {
    struct fed_datagram *fed = fed_of(event->frame);
    REQUIRE(user == &session && event->side == fed->side && (fed == session.tracked || is_confirmed_ack(event)));
    if (event->type == UE_OBSERVED_PACKET) {
        REQUIRE(!fed->has_packet && event->packet_id == fed->record.decode.packet_ids.packet_id);
        tracked_of(event->packet.first_frame);
        fed->has_packet = true;
        fed->packet_id = event->packet_id;
    } else if (event->type == UE_OBSERVED_ACK || event->type == UE_OBSERVED_NAK) {
        check_packet(event->ack.frame, event->ack.packet_id, !fed->side);
    } else if (event->type == UE_OBSERVED_FIRST_ACK) {
        check_packet(event->first_ack.acked_frame, event->first_ack.acked_id, fed->side);
        check_packet(event->first_ack.frame, event->first_ack.packet_id, !fed->side);
    } else if (event->type == UE_OBSERVED_BUNCH) {
        REQUIRE(fed->has_packet && event->packet_id == fed->packet_id);
        REQUIRE(tracked_of(event->bunch.first_frame) == NULL || tracked_of(event->bunch.previous_frame) != NULL);
    } else if (event->type >= UE_OBSERVED_MESSAGE) {
        REQUIRE(session.options.has_messages && event->packet_id == fed->packet_id);
        check_message(&event->message);
    }
}

static void track(const struct ue_observed_datagram *datagram, struct fed_datagram *fed) {
    const struct ue_observer_callbacks callbacks = {.event = on_event,
                                                    .user = &session,
                                                    .wants_messages = session.options.has_messages,
                                                    .items = session.options.has_items ? &session.items : NULL};
    session.tracked = fed;
    fed->is_tracked = true;
    fed->side = datagram->role;
    bool is_tracked = ue_observer_track(session.observer, datagram, &callbacks);
    REQUIRE(!is_tracked || !datagram->is_foreign);
    REQUIRE(!is_tracked || ue_observer_tracker(datagram->record.connection) != NULL);
    fed->is_tracked = is_tracked;
}

/* ---- returned datagrams ---- */

static void check_content(const struct ue_observed_datagram *datagram, const struct fed_datagram *fed) {
    REQUIRE(datagram->captured_bytes == fed->captured_bytes && datagram->tag == fed);
    REQUIRE(datagram->captured_bytes == 0 || memcmp(datagram->bytes, fed->bytes, fed->captured_bytes) == 0);
    REQUIRE(datagram->is_cut == fed->is_cut && datagram->size_bytes == fed->captured_bytes + fed->is_cut);
    REQUIRE(!fed->is_cut || datagram->bytes[fed->captured_bytes] != 0);
    REQUIRE(datagram->role < 2 && datagram->record.connection->is_proven);
}

static void check_order(const struct ue_observed_datagram *datagram, const struct fed_datagram *fed) {
    struct seen_connection *connection = connection_of(fed);
    REQUIRE(datagram->record.connection == connection->shown && datagram->frame > connection->last_frame);
    connection->last_frame = datagram->frame;
    if (session.options.order == UE_OBSERVER_IN_CAPTURE_ORDER) {
        REQUIRE(datagram->frame > session.last_frame);
    }
    session.last_frame = datagram->frame;
}

static void on_returned(const struct ue_observed_datagram *datagram) {
    struct fed_datagram *fed = fed_of(datagram->frame);
    REQUIRE(session.options.order != UE_OBSERVER_NEVER && fed->is_accepted && !fed->is_returned);
    fed->is_returned = true;
    check_content(datagram, fed);
    check_order(datagram, fed);
    fed->record = datagram->record;
    if (fed->is_cut) {
        fed->bytes[fed->captured_bytes] = datagram->bytes[fed->captured_bytes];
    }
    track(datagram, fed);
    decode_again(fed, true);
}

static void check_oldest(void) {
    uint64_t frame = ue_observer_oldest_frame(session.observer);
    if (frame != UINT64_MAX) {
        const struct fed_datagram *oldest = fed_of(frame);
        REQUIRE(session.options.order == UE_OBSERVER_IN_CAPTURE_ORDER);
        REQUIRE(oldest->is_accepted && !oldest->is_returned && frame > session.last_frame);
    }
}

static void check_limits(void) {
    const struct ue_observer *observer = session.observer;
    REQUIRE(observer->waiting_count <= observer->pending_max);
    if (!session.options.is_reread) {
        REQUIRE(observer->proven.count <= observer->connections_max);
        REQUIRE(observer->unproven.count <= observer->connections_max);
    }
}

static void drain(void) {
    const struct ue_observed_datagram *datagram;
    while ((datagram = ue_observer_next(session.observer)) != NULL) {
        on_returned(datagram);
    }
    check_oldest();
    check_limits();
}

/* ---- operations ---- */

static void on_accepted(struct fed_datagram *fed) {
    const struct ue_observed_connection *shown = fed->record.connection;
    fed->is_accepted = true;
    fed->is_due = shown->is_proven && session.options.order != UE_OBSERVER_NEVER;
    fed->connection = see_connection(shown);
    connection_of(fed)->accepted++;
    REQUIRE(shown->first_frame % FRAME_STEP == 1 && shown->datagrams != 0);
    REQUIRE(!shown->is_proven || shown->stream < session.observer->numbered);
}

/* The datagram is a block of its own until the next one, so that the sanitizer finds a later use. */
static void feed(const struct observer_input_operation *operation, const uint8_t *bytes, size_t size_bytes) {
    if (session.count == DATAGRAMS_MAX) {
        return;
    }
    struct fed_datagram *fed = &session.fed[session.count++];
    uint8_t *block = malloc(size_bytes != 0 ? size_bytes : 1);
    uint8_t *copy = malloc(size_bytes + 1);
    if (size_bytes != 0) {
        memcpy(block, bytes, size_bytes);
        memcpy(copy, bytes, size_bytes);
    }
    copy[size_bytes] = 1;
    *fed = (struct fed_datagram){.bytes = copy,
                                 .size_bytes = size_bytes + operation->is_cut,
                                 .captured_bytes = size_bytes,
                                 .is_cut = operation->is_cut};
    session.now_ns += operation->is_late ? LATE_NS : TICK_NS;
    const struct ue_captured_datagram captured = {.frame = (uint64_t)(fed - session.fed) * FRAME_STEP + 1,
                                                  .time_ns = session.now_ns,
                                                  .source = operation->source,
                                                  .destination = operation->destination,
                                                  .bytes = block,
                                                  .captured_bytes = size_bytes,
                                                  .length_bytes = size_bytes + (operation->is_cut ? 9 : 0),
                                                  .is_ours = operation->is_ours,
                                                  .tag = fed};
    if (ue_observer_feed(session.observer, &captured, &fed->record)) {
        on_accepted(fed);
        decode_again(fed, true);
    }
    drain();
    REQUIRE(session.options.order != UE_OBSERVER_AT_ONCE || !fed->is_due || fed->is_returned);
    free(block);
}

static struct fed_datagram *earlier_datagram(uint16_t number) {
    return session.count != 0 ? &session.fed[number % session.count] : NULL;
}

static void query(const struct fed_datagram *fed, uint16_t number) {
    if (!fed->is_accepted || !is_valid(connection_of(fed))) {
        return;
    }
    const struct ue_observed_connection *shown = fed->record.connection;
    struct ue_guid_names names = ue_observer_names(session.observer, shown, number);
    bool is_guessed;
    const char *path = names.path(names.user, number);
    REQUIRE(path == NULL || strlen(path) <= UE_GUID_MAP_PATH_MAX);
    ue_observer_channel_kind(shown, number & 15, &is_guessed);
    const struct ue_tracker *tracker = ue_observer_tracker(shown);
    REQUIRE(tracker == NULL || ue_tracker_bytes(tracker) <= UE_TRACKER_BYTES_MAX);
    REQUIRE(shown->datagrams >= connection_of(fed)->accepted);
}

static void operate_on(struct fed_datagram *fed, const struct observer_input_operation *operation) {
    switch (operation->kind) {
    case OBSERVER_INPUT_DECODE: decode_again(fed, false); break;
    case OBSERVER_INPUT_QUERY: query(fed, operation->number); break;
    case OBSERVER_INPUT_RELEASE:
        if (fed->is_accepted) {
            release_connection(connection_of(fed));
        }
        break;
    default: feed(operation, fed->bytes, fed->captured_bytes); break;
    }
}

static void operate(const struct observer_input_operation *operation) {
    uint8_t bytes[OBSERVER_INPUT_HANDSHAKE_BYTES];
    struct fed_datagram *earlier = earlier_datagram(operation->number);
    switch (operation->kind) {
    case OBSERVER_INPUT_DATAGRAM: feed(operation, operation->bytes, operation->size_bytes); break;
    case OBSERVER_INPUT_HANDSHAKE:
        feed(operation, bytes, observer_input_handshake(&session.options, operation->number, bytes));
        break;
    case OBSERVER_INPUT_FLUSH:
        ue_observer_flush(session.observer);
        drain();
        REQUIRE(session.observer->waiting_count == 0);
        break;
    case OBSERVER_INPUT_LIMIT: ue_observer_set_limit(session.observer, (size_t)operation->number * 64); break;
    default:
        if (earlier != NULL) {
            operate_on(earlier, operation);
        }
        break;
    }
}

/* ---- the end ---- */

/* Number of different streams of the connections that can still be read. */
static uint64_t count_streams(void) {
    static bool is_used[CONNECTIONS_MAX];
    uint64_t count = 0;
    memset(is_used, 0, sizeof is_used);
    for (unsigned i = 0; i < session.connection_count; i++) {
        const struct ue_observed_connection *shown = session.connections[i].shown;
        if (is_valid(&session.connections[i]) && shown->is_proven) {
            REQUIRE(shown->stream < session.observer->numbered && shown->stream < CONNECTIONS_MAX);
            count += !is_used[shown->stream];
            is_used[shown->stream] = true;
        }
    }
    return count;
}

static bool is_expecting_justified(void) {
    for (unsigned i = 0; i < session.connection_count; i++) {
        if (is_valid(&session.connections[i]) && !session.connections[i].shown->is_proven) {
            return true;
        }
    }
    return false;
}

/* Each cookie of a connection is in the table, and the pair of each current one. */
static void check_tables(void) {
    const struct ue_observer *observer = session.observer;
    const struct ue_list *lists[] = {&observer->proven, &observer->unproven};
    size_t cookies = 0, pairs = 0;
    for (unsigned i = 0; i < 2; i++) {
        for (const struct ue_list_link *link = lists[i]->first; link != NULL; link = link->next) {
            const struct ue_connection *connection = link->element;
            cookies += connection->cookie_count;
            pairs += connection->pair != NULL;
            REQUIRE(connection->shown.is_proven == (i == 0) && !connection->is_forgotten);
        }
    }
    REQUIRE(observer->cookies.count == cookies && observer->pairs.count == pairs);
}

/* Without a limit of memory every connection was seen, so that the counts are known. */
static void check_counts(void) {
    const struct ue_observer *observer = session.observer;
    uint64_t streams = ue_observer_stream_count(observer);
    uint64_t counted = count_streams();
    bool are_all_valid = true;
    for (unsigned i = 0; i < session.connection_count; i++) {
        are_all_valid &= is_valid(&session.connections[i]);
    }
    REQUIRE(streams <= DATAGRAMS_MAX && (streams >= counted || !are_all_valid));
    REQUIRE(!session.options.is_reread || ue_observer_forgotten_count(observer) == 0);
    if (session.options.memory_bytes == SIZE_MAX && are_all_valid) {
        REQUIRE(streams == counted);
        REQUIRE(observer->expecting == 0 || is_expecting_justified());
        for (unsigned i = 0; i < session.connection_count; i++) {
            REQUIRE(session.connections[i].shown->datagrams == session.connections[i].accepted);
        }
    }
}

/* Each datagram that can be decoded again gives the same in any order. */
static void decode_all(void) {
    for (size_t i = 0; i < session.count; i++) {
        struct fed_datagram *fed = &session.fed[i];
        REQUIRE(!fed->is_due || fed->is_returned);
        if (fed->is_accepted && is_valid(connection_of(fed))) {
            fed->hash = decode(fed, &fed->record);
        }
    }
    for (size_t i = session.count; i-- > 0;) {
        const struct fed_datagram *fed = &session.fed[i];
        if (fed->is_accepted && is_valid(connection_of(fed))) {
            REQUIRE(fed->hash == decode(fed, &fed->record));
        }
    }
}

static void end_session(void) {
    ue_observer_flush(session.observer);
    drain();
    REQUIRE(session.observer->waiting_count == 0);
    check_tables();
    check_counts();
    decode_all();
    for (unsigned i = 0; i < session.connection_count; i++) {
        release_connection(&session.connections[i]);
    }
    ue_observer_free(session.observer);
    REQUIRE(session.memory.used_bytes == 0 && session.memory.blocks == 0 && session.decryptor_count == 0);
    for (size_t i = 0; i < session.count; i++) {
        free(session.fed[i].bytes);
    }
}

static bool begin_session(void) {
    const struct ue_observer_options options = {
        .allocator = session.memory.allocator,
        .hash_seed = 1,
        .order = session.options.order,
        .gathered_max = session.options.gathered_max,
        .is_reread = session.options.is_reread,
        .settings = &session.options.settings,
        .choose = session.options.has_choose ? choose : NULL,
        .user = &session,
        .decryption = session.options.has_decryption ? &decryption : NULL,
        .user_bytes = sizeof(struct connection_user),
    };
    session.observer = ue_observer_new(&options);
    if (session.observer != NULL) {
        session.observer->ungathered_max = 1;
    }
    if (session.observer != NULL && session.options.connections_max != 0) {
        session.observer->connections_max = session.options.connections_max;
    }
    if (session.observer != NULL && session.options.pending_max != 0) {
        session.observer->pending_max = session.options.pending_max;
    }
    return session.observer != NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct observer_input input;
    struct observer_input_operation operation;
    if (size < OBSERVER_INPUT_HEAD_BYTES) {
        return 0;
    }
    memset(&session, 0, sizeof session);
    session.options = observer_input_init(&input, data, size);
    counting_allocator_init(&session.memory, session.options.memory_bytes);
    if (begin_session()) {
        while (observer_input_next(&input, &operation)) {
            operate(&operation);
        }
        end_session();
    }
    return 0;
}

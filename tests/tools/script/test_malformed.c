/* SPDX-License-Identifier: MIT */
/* The reaction of an endpoint to every malformed or illegal packet of endpoint.md 34 and every rule of endpoint.md
   16, as client and as server, in generations A, B and C. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tools/endpoint/core/connection.h"
#include "tools/endpoint/login/login.h"
#include "tools/script/testbed.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define FIRST 100 /* sequence of the first packet of both sides, so that each packet is valid for both */

enum { CLIENT, SERVER };

/* The state before the packets of a row, in addition to fixture F. */
enum {
    FRESH = 1,      /* no packet was sent: no control channel at a server */
    UNADMITTED = 2, /* no player */
    NO_CONTROL = 4  /* channel 0 was closed */
};

/* The reaction to the newest packet. */
enum reaction {
    NONE,  /* the packet is ignored: neither acked nor nacked */
    NAK,   /* reported as not delivered */
    ACK,   /* reported as delivered */
    CLOSES /* the connection closes */
};

struct malformed_outcome {
    enum reaction reaction;
    enum ue_close_reason fault; /* of the fault event, and of the close */
};

struct malformed_row {
    const char *name;
    unsigned begins;
    const char *packets; /* in the notation of packet.h, separated by ';' */
    unsigned cut;        /* bits removed from the end of the last packet */
    struct malformed_outcome client;
    struct malformed_outcome server;
    bool is_bunch_error;  /* a server adds CorruptData to the reason (endpoint.md 16.17) */
    const char *delivers; /* payloads, each after a space; of the client only if a server closes before */
};

#define BOTH(reaction, reason) .client = {reaction, UE_CLOSE_##reason}, .server = {reaction, UE_CLOSE_##reason}
#define SPLIT(reaction, reason)                                                                                        \
    .client = {reaction, UE_CLOSE_##reason}, .server = {CLOSES, UE_CLOSE_##reason}, .is_bunch_error = true
#define QUIET(reaction) .client = {reaction, UE_CLOSE_NONE}, .server = {reaction, UE_CLOSE_NONE}

static const struct malformed_row rows[] = {
    /* ---- packet header (endpoint.md 8) ---- */
    {"header cut", 0, "100 Ack=99 hist=0", 40, BOTH(CLOSES, READ_HEADER_FAIL)},
    {"history cut", 0, "100 Ack=99 hist=0,0", 40, BOTH(CLOSES, READ_HEADER_FAIL)},
    {"packet info cut off", 0, "100 Ack=99 hist=0", 1, BOTH(CLOSES, READ_HEADER_EXTRA_FAIL)},
    {"jitter cut", 0, "100 Ack=99 hist=0 info", 4, BOTH(CLOSES, READ_HEADER_EXTRA_FAIL)},
    {"frame time flag cut off", 0, "100 Ack=99 hist=0 info", 1, BOTH(CLOSES, READ_HEADER_EXTRA_FAIL)},
    {"older than the newest", 0, "100 Ack=99 hist=0 [5 U u 8];100 Ack=99 hist=0 [5 U v 8]", 0, QUIET(ACK),
     .delivers = " u"},
    {"exactly half the numbers ahead", 0, "8291 Ack=99 hist=0 [5 U u 8]", 0, QUIET(NONE)},
    {"acknowledges backwards", 0, "100 Ack=98 hist=0 [5 U u 8]", 0, QUIET(NONE)},
    {"acknowledges what was never sent", 0, "100 Ack=100 hist=1 [5 U u 8]", 0, QUIET(NONE)},
    /* ---- bunch header (endpoint.md 16.1 to 16.6) ---- */
    {"channel index too large", 0, "100 Ack=99 hist=0 [5 U u 8] [32767 R101 m 8]", 0,
     BOTH(CLOSES, BUNCH_BAD_CHANNEL_INDEX), .delivers = " u"},
    {"name is a text without end", 0, "100 Ack=99 hist=0 [5 R101 as:text m 8]", 40,
     BOTH(CLOSES, BUNCH_CHANNEL_NAME_FAIL)},
    {"name outside the engine's table", 0, "100 Ack=99 hist=0 [9 R101 as:411 m 8]", 0,
     BOTH(CLOSES, BUNCH_CHANNEL_NAME_FAIL)},
    {"name differs from the channel's", 0, "100 Ack=99 hist=0 [5 R101 as:Voice m 8]", 0,
     BOTH(CLOSES, BUNCH_WRONG_CHANNEL_TYPE)},
    {"header cut after another bunch", 0, "100 Ack=99 hist=0 [5 U u 8] [5 U v 0]", 10,
     BOTH(CLOSES, BUNCH_HEADER_OVERFLOW), .delivers = " u"},
    {"data cut after another bunch", 0, "100 Ack=99 hist=0 [5 U u 8] [5 U v 8]", 1, BOTH(CLOSES, BUNCH_DATA_OVERFLOW),
     .delivers = " u"},
    {"channel index too large, and cut", 0, "100 Ack=99 hist=0 [32767 U u 8]", 1,
     BOTH(CLOSES, BUNCH_BAD_CHANNEL_INDEX)},
    {"name differs, and cut", 0, "100 Ack=99 hist=0 [5 R101 as:Voice m 8]", 1, BOTH(CLOSES, BUNCH_WRONG_CHANNEL_TYPE)},
    {"exports", 0, "100 Ack=99 hist=0 [5 U exports u 8]", 0, .client = {ACK, UE_CLOSE_NONE},
     .server = {CLOSES, UE_CLOSE_BUNCH_SERVER_EXPORTS}},
    {"must-be-mapped objects", 0, "100 Ack=99 hist=0 [5 U mapped u 8]", 0, .client = {ACK, UE_CLOSE_NONE},
     .server = {CLOSES, UE_CLOSE_CLIENT_HAS_MUST_BE_MAPPED_GUIDS}},
    /* ---- channels that do not exist (endpoint.md 16.7 to 16.15) ---- */
    {"before the control channel", NO_CONTROL, "100 Ack=99 hist=0 [9 R101 open:DataStream m 8]", 0,
     BOTH(CLOSES, BUNCH_PREMATURE_CONTROL_CHANNEL)},
    {"unreliable before the control channel", NO_CONTROL, "100 Ack=99 hist=0 [9 U u 8]", 0,
     BOTH(CLOSES, BUNCH_PREMATURE_CONTROL_CHANNEL)},
    {"channel 0 under another name", NO_CONTROL, "100 Ack=99 hist=0 [0 R101 open:Actor m 8]", 0,
     BOTH(CLOSES, BUNCH_PREMATURE_CONTROL_CHANNEL)},
    {"before the login", UNADMITTED, "100 Ack=99 hist=0 [9 R101 open:DataStream m 8]", 0,
     .client = {ACK, UE_CLOSE_NONE}, .server = {CLOSES, UE_CLOSE_BUNCH_PREMATURE_CHANNEL}},
    {"closes the control channel before it opens", NO_CONTROL, "100 Ack=99 hist=0 [0 R101 open:Control close - 0]", 0,
     BOTH(CLOSES, BUNCH_PREMATURE_CONTROL_CLOSE)},
    {"outdated", 0, "100 Ack=99 hist=0 [5 R101 m 8];101 Ack=99 hist=0 [5 R101 n 8] [5 R100 o 8]", 0, QUIET(ACK),
     .delivers = " m"},
    {"outdated for a channel that is gone", 0, "100 Ack=99 hist=0 [9 R100 m 8] [5 U u 8]", 0, QUIET(ACK),
     .delivers = " u"},
    {"unreliable for an unknown channel", 0, "100 Ack=99 hist=0 [5 R101 m 8] [9 U u 8] [5 R102 n 8]", 0, QUIET(NAK),
     .delivers = " m n"},
    {"unreliable open without close", 0, "100 Ack=99 hist=0 [9 U open:DataStream u 8]", 0, QUIET(NAK)},
    {"unreliable open and close", 0, "100 Ack=99 hist=0 [9 U open:DataStream close u 8]", 0, QUIET(ACK),
     .delivers = " u"},
    {"unknown kind of channel", 0, "100 Ack=99 hist=0 [9 R101 open:300 m 8]", 0, BOTH(CLOSES, UNKNOWN_CHANNEL_TYPE)},
    {"a kind that only servers open", 0, "100 Ack=99 hist=0 [9 R101 open:Actor m 8] [9 R102 n 8] [5 U u 8]", 0,
     QUIET(ACK), .delivers = NULL},
    {"unreliable after a refused open", 0, "100 Ack=99 hist=0 [9 R101 open:Actor close m 8] [9 U u 8]", 0, QUIET(NAK),
     .delivers = NULL},
    /* ---- reliable order (endpoint.md 17) ---- */
    {"twice in the queue", 0, "100 Ack=99 hist=0 [5 R103 m 8];101 Ack=99 hist=0 [5 R103 n 8]", 0, QUIET(ACK)},
    {"255 in the queue", 0,
     "100 Ack=99 hist=0 [5 R102-220 m 8];101 Ack=99 hist=0 [5 R221-340 m 8];"
     "102 Ack=99 hist=0 [5 R341-356 m 8]",
     0, QUIET(ACK)},
    {"256 in the queue", 0,
     "100 Ack=99 hist=0 [5 R102-220 m 8];101 Ack=99 hist=0 [5 R221-340 m 8];"
     "102 Ack=99 hist=0 [5 R341-357 m 8]",
     0, SPLIT(NAK, MAX_RELIABLE_EXCEEDED)},
    /* ---- partial bunches (endpoint.md 18) ---- */
    {"reliable begins over a reliable one", 0, "100 Ack=99 hist=0 [5 R101 initial m 8] [5 R102 initial n 8]", 0,
     SPLIT(ACK, PARTIAL_INITIAL_RELIABLE_DESTROY)},
    {"unreliable begins over a reliable one", 0,
     "100 Ack=99 hist=0 [5 R101 initial m 8];101 Ack=99 hist=0 [5 U initial u 8]", 0, QUIET(NAK)},
    {"unreliable goes on with a reliable one", 0,
     "100 Ack=99 hist=0 [5 R101 initial m 8];101 Ack=99 hist=0 [5 U final u 8]", 0, QUIET(NAK)},
    {"that one goes on", 0,
     "100 Ack=99 hist=0 [5 R101 initial m 8];101 Ack=99 hist=0 [5 U final u 8];102 Ack=99 hist=0 [5 R102 final n 8]", 0,
     QUIET(ACK), .delivers = " mn"},
    {"begins inside a byte", 0, "100 Ack=99 hist=0 [5 R101 initial m 13]", 0,
     SPLIT(ACK, PARTIAL_INITIAL_NON_BYTE_ALIGNED)},
    {"goes on inside a byte", 0, "100 Ack=99 hist=0 [5 R101 initial m 8] [5 R102 middle n 13]", 0,
     SPLIT(ACK, PARTIAL_NON_BYTE_ALIGNED)},
    {"ends with exports", 0, "100 Ack=99 hist=0 [5 R101 initial m 8] [5 R102 exports final n 8]", 0,
     .client = {ACK, UE_CLOSE_PARTIAL_FINAL_EXPORTS}, .server = {CLOSES, UE_CLOSE_BUNCH_SERVER_EXPORTS}},
    {"continues after another reliable bunch", 0,
     "100 Ack=99 hist=0 [5 R101 initial m 8] [5 R102 w 8];101 Ack=99 hist=0 [5 R103 final n 8]", 0,
     SPLIT(NAK, PARTIAL_MERGE_RELIABLE_DESTROY), .delivers = " w"},
    {"continues after its end", 0,
     "100 Ack=99 hist=0 [5 R101 initial m 8] [5 R102 final n 8];101 Ack=99 hist=0 [5 R103 final o 8]", 0,
     SPLIT(NAK, PARTIAL_MERGE_RELIABLE_DESTROY), .delivers = " mn"},
    {"unreliable goes on two packets later", 0,
     "100 Ack=99 hist=0 [5 U initial u 8];101 Ack=99 hist=0;102 Ack=99 hist=0 [5 U final v 8]", 0, QUIET(NAK)},
    {"unreliable goes on without a beginning", 0, "100 Ack=99 hist=0 [5 U final v 8]", 0, QUIET(NAK)},
    {"reliable goes on without a beginning", 0, "100 Ack=99 hist=0 [5 R101 final n 8]", 0, QUIET(NAK)},
    {"reliable goes on with an unreliable one", 0,
     "100 Ack=99 hist=0 [5 U initial u 8];101 Ack=99 hist=0 [5 R101 final n 8]", 0, QUIET(NAK)},
    {"65,757 bytes", 0, "100 Ack=99 hist=0 [5 R101 initial m 7624];101-168 Ack=99 hist=0 [5 R102 middle m 7624]", 0,
     SPLIT(ACK, PARTIAL_TOO_LARGE)},
    {"another bunch after such an error", 0, "100 Ack=99 hist=0 [5 R101 initial m 13] [5 U u 8]", 0,
     SPLIT(ACK, PARTIAL_INITIAL_NON_BYTE_ALIGNED), .delivers = " u"},
    /* ---- opening (endpoint.md 19) ---- */
    {"opened twice", FRESH,
     "100 Ack=99 hist=0 [0 R101 open:Control Join 8];101 Ack=99 hist=0 [0 R102 open:Control Join 8]", 0,
     .client = {ACK, UE_CLOSE_ALREADY_OPEN}, .server = {CLOSES, UE_CLOSE_ALREADY_OPEN}, .is_bunch_error = true,
     .delivers = NULL},
    {"reliable before the open", FRESH, "100 Ack=99 hist=0 [0 R101 Join 8]", 0, .client = {ACK, UE_CLOSE_NONE},
     .server = {CLOSES, UE_CLOSE_RELIABLE_BEFORE_OPEN}, .is_bunch_error = true, .delivers = NULL},
};

/* ---- one row ---- */

static unsigned failures;

/* All rows run before the test fails. */
#define MISSED(...)                                                                                                    \
    do {                                                                                                               \
        print_error(__VA_ARGS__);                                                                                      \
        print_error("\n");                                                                                             \
        failures++;                                                                                                    \
    } while (0)

struct malformed_events {
    GString *delivered;
    enum ue_close_reason fault;
    enum ue_close_reason closed;
    bool is_closed;
};

static void read_events(struct ue_conn *c, struct malformed_events *events) {
    struct ue_event e;
    while (ue_conn_next_event(c, &e)) {
        switch (e.type) {
        case UE_EVENT_FAULT: events->fault = e.reason; break;
        case UE_EVENT_STATE:
            events->is_closed |= e.state == UE_CONN_CLOSED;
            events->closed = e.reason;
            break;
        case UE_EVENT_BUNCH:
            events->delivered = events->delivered != NULL ? events->delivered : g_string_new(NULL);
            script_payload_print_name(g_string_append_c(events->delivered, ' '), ue_conn_context(c), e.channel, e.data);
            break;
        default: break;
        }
    }
}

static void begin(struct script_testbed *stage, enum ue_ack_generation generation, const struct malformed_row *row) {
    struct script_testbed_config config;
    script_testbed_config_init(&config, generation);
    config.first[CLIENT] = config.first[SERVER] = FIRST;
    assert_true(script_testbed_start(stage, &config));
    if ((row->begins & UNADMITTED) == 0) {
        ue_conn_admit(stage->sides[CLIENT].conn);
        ue_conn_admit(stage->sides[SERVER].conn);
    }
    if ((row->begins & FRESH) == 0) {
        script_testbed_open_control(stage);
        assert_true(script_testbed_open_channel(stage, SCRIPT_TESTBED_CHANNEL, UE_KIND_OTHER, UE_NAME_DATA_STREAM));
    }
    for (unsigned side = 0; side < 2 && (row->begins & NO_CONTROL) != 0; side++) {
        struct ue_channel_table *table = &stage->sides[side].conn->channels;
        struct ue_channel_entry *entry = ue_channel_entry_find(table, 0);
        ue_channel_free(table, entry);
        entry->in_reliable = table->in_first;
    }
    script_testbed_discard_output(stage);
}

static void forge(struct script_testbed *stage, unsigned to, char *line) {
    struct script_error mistake = {0};
    if (!script_testbed_inject(stage, to, line, &mistake)) {
        fail_msg("%s", mistake.text);
    }
}

/* The client's first packet. */
static void send_one(struct script_testbed *stage) {
    static const uint8_t letter = 'u';
    const struct ue_outgoing bunch = {.channel = SCRIPT_TESTBED_CHANNEL, .data = {&letter, 0, 8}};
    assert_int_equal(script_testbed_send(stage, CLIENT, &bunch, 1, true), UE_OK);
}

static void play(struct script_testbed *stage, unsigned side, const struct malformed_row *row) {
    char *packets = strdup(row->packets);
    char *next = packets;
    while (next != NULL) {
        char *line = next;
        next = strchr(line, ';');
        if (next != NULL) {
            *next++ = '\0';
        }
        stage->forged.cut_bits = next == NULL ? row->cut : 0;
        forge(stage, side, line);
    }
    free(packets);
}

static enum reaction reaction_to_newest(const struct script_testbed *stage, const struct ue_conn *c) {
    uint16_t newest = (uint16_t)((stage->forged.datagram.packet.seq + 16383) & 16383); /* the next sequence minus 1 */
    return c->sender.packet_notify.in_ack_seq != newest    ? NONE
           : (c->sender.packet_notify.history[0] & 1) != 0 ? ACK
                                                           : NAK;
}

static bool has_sent(struct script_testbed *stage, const char *words) {
    bool found = false;
    script_transcript_end_line(&stage->transcript);
    for (GList *l = stage->transcript.lines.head; l != NULL; l = l->next) {
        found |= strstr(((struct script_line *)l->data)->text, words) != NULL;
    }
    return found;
}

/* The last packet of a closing connection has the close reason and closes the control channel. */
static void assert_close_packet(struct script_testbed *stage, unsigned side, const struct malformed_row *row,
                                enum ue_close_reason reason) {
    char text[200];
    script_testbed_read_output(stage, side);
    snprintf(text, sizeof text, "CloseReason(%s%s)", ue_close_reason_name(reason),
             row->is_bunch_error ? ",CorruptData" : "");
    bool has_channel = (row->begins & (FRESH | NO_CONTROL)) == 0;
    if (has_channel && stage->config.profile.acks != UE_ACKS_PLAIN && !has_sent(stage, text)) {
        MISSED("%s: %s was not sent", row->name, text);
    }
    if (has_channel && !has_sent(stage, " close - 0]")) {
        MISSED("%s: the control channel is not closed", row->name);
    }
}

static void assert_row(const struct malformed_row *row, unsigned side, enum ue_ack_generation generation) {
    struct script_testbed stage;
    struct malformed_events events = {0};
    const struct malformed_outcome *expected = side == CLIENT ? &row->client : &row->server;
    begin(&stage, generation, row);
    struct ue_conn *c = stage.sides[side].conn;
    play(&stage, side, row);
    read_events(c, &events);
    if (events.fault != expected->fault || events.is_closed != (expected->reaction == CLOSES)) {
        MISSED("%s, side %u, generation %d: fault \"%s\", closed for \"%s\", not \"%s\"", row->name, side, generation,
               ue_close_reason_name(events.fault), ue_close_reason_name(events.closed),
               ue_close_reason_name(expected->fault));
    }
    if (events.is_closed) {
        assert_close_packet(&stage, side, row, expected->fault);
    } else if (reaction_to_newest(&stage, c) != expected->reaction) {
        MISSED("%s, side %u, generation %d: reaction %d, not %d", row->name, side, generation,
               reaction_to_newest(&stage, c), expected->reaction);
    }
    bool is_cut_short = events.is_closed && row->client.reaction != CLOSES;
    if (row->delivers != NULL && !is_cut_short &&
        (events.delivered == NULL || strcmp(events.delivered->str, row->delivers) != 0)) {
        MISSED("%s, side %u: delivered%s", row->name, side,
               events.delivered != NULL ? events.delivered->str : " nothing");
    }
    if (events.delivered != NULL) {
        g_string_free(events.delivered, TRUE);
    }
    assert_true(script_testbed_stop(&stage));
}

static void malformed_packets(void **state) {
    failures = 0;
    for (size_t i = 0; i < COUNT(rows); i++) {
        for (enum ue_ack_generation generation = UE_ACKS_PLAIN; generation <= UE_ACKS_RESET; generation++) {
            assert_row(&rows[i], CLIENT, generation);
            assert_row(&rows[i], SERVER, generation);
        }
    }
    assert_int_equal(failures, 0);
}

/* ---- datagrams without a packet ---- */

/* Bit 0 is the handshake bit; then the payload, its terminator and the terminator of the handlers. */
static const struct {
    const char *name;
    uint8_t bytes[4];
    size_t size_bytes;
    enum ue_close_reason reason;
} datagrams[] = {
    {"empty", {0}, 0, UE_CLOSE_NONE},
    {"no end of the handlers", {0x0e, 0x00}, 2, UE_CLOSE_PACKET_HANDLER_INCOMING_ERROR},
    {"nothing but zeros", {0x00, 0x00}, 2, UE_CLOSE_PACKET_HANDLER_INCOMING_ERROR},
    {"handlers leave nothing", {0x02}, 1, UE_CLOSE_NONE},
    {"a payload without end", {0x00, 0x00, 0x02}, 3, UE_CLOSE_ZERO_LAST_BYTE},
    {"a payload of no bits", {0x06}, 1, UE_CLOSE_NONE},
    {"a payload of one bit", {0x0c}, 1, UE_CLOSE_READ_HEADER_FAIL},
};

static void malformed_datagrams(void **state) {
    const struct malformed_row row = {0};
    failures = 0;
    for (size_t i = 0; i < 2 * COUNT(datagrams); i++) {
        struct script_testbed stage;
        struct malformed_events events = {0};
        begin(&stage, UE_ACKS_FLUSH, &row);
        struct ue_conn *c = stage.sides[i % 2].conn;
        script_testbed_receive(&stage, i % 2, datagrams[i / 2].bytes, datagrams[i / 2].size_bytes);
        read_events(c, &events);
        if (events.fault != datagrams[i / 2].reason || events.is_closed != (events.fault != UE_CLOSE_NONE)) {
            MISSED("%s: \"%s\"", datagrams[i / 2].name, ue_close_reason_name(events.fault));
        }
        assert_int_equal(reaction_to_newest(&stage, c), NONE);
        assert_true(script_testbed_stop(&stage));
    }
    assert_int_equal(failures, 0);
}

/* ---- messages of the control channel (endpoint.md 21) ---- */

static const struct {
    const char *name;
    unsigned to;
    const char *bunches[2];
    enum ue_close_reason reason;
} messages[] = {
    {"unknown message for a server",
     SERVER,
     {"open:Control Hello 0", "0xc8 0"},
     UE_CLOSE_CONTROL_CHANNEL_MESSAGE_UNKNOWN},
    {"unknown message for a client", CLIENT, {"0xc8 0"}, UE_CLOSE_CONTROL_CHANNEL_MESSAGE_UNKNOWN},
    {"message cut", CLIENT, {"0x0401 0"}, UE_CLOSE_CONTROL_CHANNEL_MESSAGE_FAIL},
    {"Hello cut", SERVER, {"open:Control 0x000112 0"}, UE_CLOSE_CONTROL_CHANNEL_MESSAGE_FAIL},
    {"message out of turn", SERVER, {"open:Control Hello 0", "Join 0"}, UE_CLOSE_CONTROL_CHANNEL_MESSAGE_FAIL},
    {"another first message", SERVER, {"open:Control 0x0901 0"}, UE_CLOSE_CONTROL_CHANNEL_ENDIAN_CHECK},
    {"neither byte order", SERVER, {"open:Control 0x000200000000 0"}, UE_CLOSE_CONTROL_CHANNEL_ENDIAN_CHECK},
    {"a single byte first", SERVER, {"open:Control 0x00 0"}, UE_CLOSE_CONTROL_CHANNEL_ENDIAN_CHECK},
};

static void malformed_messages(void **state) {
    const struct malformed_row row = {.begins = FRESH};
    failures = 0;
    for (size_t i = 0; i < COUNT(messages); i++) {
        struct script_testbed stage;
        struct malformed_events events = {0};
        struct ue_login login;
        begin(&stage, UE_ACKS_FLUSH, &row);
        struct ue_conn *c = stage.sides[messages[i].to].conn;
        assert_int_equal(ue_login_init(&login, c, &(struct ue_login_config){0}), UE_OK);
        for (unsigned k = 0; k < 2 && messages[i].bunches[k] != NULL; k++) {
            char line[200];
            assert_false(c->common.life.state == UE_CONN_CLOSED);
            snprintf(line, sizeof line, "%u Ack=99 hist=0 [0 R%u %s]", FIRST + k, FIRST + 1 + k,
                     messages[i].bunches[k]);
            forge(&stage, messages[i].to, line);
        }
        read_events(c, &events);
        if (!events.is_closed || events.closed != messages[i].reason) {
            MISSED("%s: closed for \"%s\"", messages[i].name, ue_close_reason_name(events.closed));
        }
        assert_true(script_testbed_stop(&stage));
    }
    assert_int_equal(failures, 0);
}

/* ---- internal faults that no peer can cause ---- */

static void acks_out_of_order_close(void **state) {
    const struct malformed_row row = {0};
    struct script_testbed stage;
    struct malformed_events events = {0};
    char packet[] = "100 Ack=100 hist=1";
    begin(&stage, UE_ACKS_FLUSH, &row);
    struct ue_conn *c = stage.sides[CLIENT].conn;
    send_one(&stage);
    c->sender.last_notified_id++;
    forge(&stage, CLIENT, packet);
    read_events(c, &events);
    assert_true(events.is_closed);
    assert_int_equal(events.closed, UE_CLOSE_ACK_SEQUENCE_MISMATCH);
    assert_true(script_testbed_stop(&stage));
}

/* The acks of a packet count that is cut inside its info block. */
static void acks_count_before_the_info_is_read(void **state) {
    const struct malformed_row row = {0};
    struct script_testbed stage;
    char packet[] = "100 Ack=100 hist=1 info";
    begin(&stage, UE_ACKS_FLUSH, &row);
    struct ue_conn *c = stage.sides[CLIENT].conn;
    send_one(&stage);
    stage.forged.cut_bits = 1;
    forge(&stage, CLIENT, packet);
    assert_int_equal(c->common.life.state, UE_CONN_CLOSED);
    assert_int_equal(c->sender.packet_notify.out_ack_seq, 100);
    assert_int_equal(c->common.statistics.counters.out_packets_acked, 1);
    assert_true(script_testbed_stop(&stage));
}

/* Clients that close on bunch errors are an option (endpoint.md 39). */
static void strict_clients_close(void **state) {
    const struct malformed_row row = {0};
    struct script_testbed stage;
    struct malformed_events events = {0};
    char packet[] = "100 Ack=99 hist=0 [5 R101 initial m 13]";
    begin(&stage, UE_ACKS_FLUSH, &row);
    struct ue_conn *c = stage.sides[CLIENT].conn;
    c->common.config.options.strict_client = true;
    forge(&stage, CLIENT, packet);
    read_events(c, &events);
    assert_int_equal(events.closed, UE_CLOSE_PARTIAL_INITIAL_NON_BYTE_ALIGNED);
    assert_true(script_testbed_stop(&stage));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(malformed_packets),
        cmocka_unit_test(malformed_datagrams),
        cmocka_unit_test(malformed_messages),
        cmocka_unit_test(acks_out_of_order_close),
        cmocka_unit_test(acks_count_before_the_info_is_read),
        cmocka_unit_test(strict_clients_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

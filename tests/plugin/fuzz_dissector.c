/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Dissects a sequence of datagrams in Wireshark: the first pass, then each datagram with all details, in order or in
   reverse order. The first byte of the input selects settings and port. Each datagram is a 16-bit word (bit 15: from
   the server; bits 13 and 14: bytes that are cut off its end; the rest: its length) and its bytes, as in
   tests/fuzz/datagram_input.h. The size of the input selects the order, whether the first pass builds trees, and
   whether it has ended, as it has not during a live capture. Tap
   listeners read all data of the taps. */
#include "plugin/compat.h"

#include <stdlib.h>

#include <epan/column-info.h>
#include <epan/column-utils.h>
#include <epan/column.h>
#include <epan/dissectors/packet-udp.h>
#include <epan/epan.h>
#include <epan/epan_dissect.h>
#include <epan/packet.h>
#include <epan/prefs.h>
#include <epan/proto.h>
#include <wiretap/wtap.h>
#include <wsutil/filesystem.h>
#include <wsutil/privileges.h>
#include <wsutil/wslog.h>

#include "plugin/fields.h"
#include "plugin/taps/tap.h"

#define DATAGRAMS_MAX 24
#define OTHER_PORT 31415
#define CLIENT_PORT_FIRST 50000
/* A session grows with every datagram, and a new session is slow to create. */
#define INPUTS_PER_SESSION 5000
#define FRAME_NS 5000000
#define COUNT(array) (sizeof(array) / sizeof *(array))

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argument_count, char ***arguments);
void plugin_register(void);
const char *__asan_default_options(void);

/* Wireshark frees its memory at the end of a session: a search for leaks after each input would take most of the time,
   and so would a stack trace and a long quarantine for each block. */
const char *__asan_default_options(void) {
    return "detect_leaks=0:malloc_context_size=0:quarantine_size_mb=16";
}

struct fuzz_frame {
    frame_data data;
    uint8_t *bytes;
    uint32_t captured;
    uint32_t length;
    bool from_server;
};

struct packet_provider_data {
    nstime_t time;
};

static nstime_t time_of(uint32_t frame_number) {
    uint64_t ns = (uint64_t)frame_number * FRAME_NS;
    return (nstime_t){.secs = (time_t)(ns / 1000000000), .nsecs = (int)(ns % 1000000000)};
}

static const nstime_t *frame_time(struct packet_provider_data *provider, uint32_t frame_number) {
    provider->time = time_of(frame_number);
    return &provider->time;
}

static struct packet_provider_data provider;
static column_info columns;
static unsigned inputs;
static uint32_t last_frame_number;
static const struct fuzz_frame *present;
static unsigned server_port;
/* Another port for each input, so that no conversation of an earlier input matches. */
static unsigned client_port;
static const struct packet_provider_funcs provider_functions = {.get_frame_ts = frame_time};

static void log_message(const char *format, va_list arguments) {
    vfprintf(stderr, format, arguments);
}

/* Wireshark 4.6 changed some signatures and moved the bytes into the record. */
#if UERUDP_WIRESHARK_BEFORE(4, 6)
static void start_library(const char *program) {
    ws_log_init("fuzz_dissector", log_message);
    init_process_policies();
    g_free(configuration_init(program, NULL));
}

static void start_record(wtap_rec *rec, const struct fuzz_frame *frame) {
    wtap_rec_init(rec);
}

static void run(epan_dissect_t *edt, wtap_rec *rec, struct fuzz_frame *frame, column_info *cinfo) {
    tvbuff_t *tvb = tvb_new_real_data(frame->bytes, frame->captured, (int)frame->length);
    epan_dissect_run_with_taps(edt, WTAP_FILE_TYPE_SUBTYPE_UNKNOWN, rec, tvb, &frame->data, cinfo);
}
#else
static void start_library(const char *program) {
    ws_log_init(log_message);
    init_process_policies();
    g_free(configuration_init(program));
}

static void start_record(wtap_rec *rec, const struct fuzz_frame *frame) {
    wtap_rec_init(rec, frame->captured);
    ws_buffer_append(&rec->data, frame->bytes, frame->captured);
}

static void run(epan_dissect_t *edt, wtap_rec *rec, struct fuzz_frame *frame, column_info *cinfo) {
    epan_dissect_run_with_taps(edt, WTAP_FILE_TYPE_SUBTYPE_UNKNOWN, rec, &frame->data, cinfo);
}
#endif

/* Replaces Wireshark's function: 4.0 reads its table of network card manufacturers (11 MB) for each session and never
   frees it. */
#if UERUDP_WIRESHARK_BEFORE(4, 2)
char *get_datafile_path(const char *filename) {
    return g_build_filename("/nonexistent", filename, NULL);
}
#endif

/* Only the protocols under test, so that a crash elsewhere in Wireshark is not found here. */
static void enable_few_protocols(void) {
    void *cookie = NULL;
    for (int id = proto_get_first_protocol(&cookie); id != -1; id = proto_get_next_protocol(&cookie)) {
        if (proto_can_toggle_protocol(id) && !proto_is_pino(find_protocol_by_id(id)) && id != uerudp_proto) {
            proto_set_decoding(id, FALSE);
        }
    }
}

/* Replaces IP and UDP, whose fields and texts would take a third of the time; for the same reason no item of the frame
   is visible. */
static int dissect_carrier(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, void *data) {
    static const uint8_t server[] = {192, 168, 0, 1}, client[] = {10, 0, 0, 1};
    bool back = present->from_server;
    set_address(&pinfo->net_src, AT_IPv4, sizeof server, back ? server : client);
    set_address(&pinfo->net_dst, AT_IPv4, sizeof client, back ? client : server);
    copy_address_shallow(&pinfo->src, &pinfo->net_src);
    copy_address_shallow(&pinfo->dst, &pinfo->net_dst);
    pinfo->ptype = PT_UDP;
    pinfo->srcport = back ? server_port : client_port;
    pinfo->destport = back ? client_port : server_port;
    if (tree != NULL) {
        proto_tree_set_visible(tree, TRUE);
    }
    decode_udp_ports(tvb, 0, pinfo, tree, (int)pinfo->srcport, (int)pinfo->destport, -1);
    return (int)tvb_captured_length(tvb);
}

/* ---- taps ---- */

static volatile uint64_t sum; /* prevents the compiler from removing the reads */

static tap_packet_status read_datagram(void *user, packet_info *pinfo, epan_dissect_t *edt, const void *data,
                                       tap_flags_t flags) {
    const struct uerudp_tap *tap = data;
    const struct uerudp_tap_analysis *analysis = tap->analysis(tap);
    uint32_t bunch_count;
    const struct uerudp_tap_bunch *bunches = tap->bunches(tap, &bunch_count);
    for (uint32_t i = 0; i < analysis->ack_count; i++) {
        sum += (uint64_t)analysis->acks[i].packet_id;
    }
    sum += tap->content(tap)->bunches.all == bunch_count;
    for (uint32_t i = 0; i < bunch_count; i++) {
        sum += bunches[i].channel_name != NULL ? strlen(bunches[i].channel_name) : 0;
    }
    return TAP_PACKET_REDRAW;
}

static tap_packet_status read_message(void *user, packet_info *pinfo, epan_dissect_t *edt, const void *data,
                                      tap_flags_t flags) {
    const struct uerudp_tap_message *message = data;
    for (size_t i = 0; i < (message->bits + 7) / 8; i++) {
        sum += *tvb_get_ptr(message->tvb, (int)i, 1);
    }
    return TAP_PACKET_REDRAW;
}

static void listen_to(const char *tap, tap_packet_cb callback) {
    static int listeners[2];
    static unsigned count;
    GString *error = register_tap_listener(tap, &listeners[count++], NULL, 0, NULL, callback, NULL, NULL);
    if (error != NULL) {
        abort();
    }
}

int LLVMFuzzerInitialize(int *argument_count, char ***arguments) {
    g_setenv("WIRESHARK_ABORT_ON_DISSECTOR_BUG", "1", 0);
    g_setenv("WIRESHARK_ABORT_ON_TOO_MANY_ITEMS", "1", 0);
    g_setenv("WIRESHARK_DEBUG_WMEM_OVERRIDE", "simple", 0); /* one malloc for each block, for the sanitizer */
    g_setenv("HOME", "/nonexistent", 1);
    start_library((*arguments)[0]);
    wtap_init(FALSE);
    plugin_register();
    if (!epan_init(NULL, NULL, FALSE)) {
        abort();
    }
    epan_load_settings();
    enable_few_protocols();
    dissector_add_uint("wtap_encap", WTAP_ENCAP_USER0, create_dissector_handle(dissect_carrier, -1));
    prefs_apply_all();
    build_column_format_array(&columns, prefs.num_cols, TRUE);
    listen_to(UERUDP_TAP_NAME, read_datagram);
    listen_to(UERUDP_TAP_MESSAGE_NAME, read_message);
    return 0;
}

static void set(const char *name, const char *value) {
    char *error = NULL;
    char *text = g_strdup_printf("uerudp.%s:%s", name, value);
    if (prefs_set_pref(text, &error) != PREFS_SET_OK) {
        abort();
    }
    g_free(text);
    g_free(error);
}

/* Bits 0 to 2: length of the magic header; 3 to 6: generation, the last four with a handler; 7: another port. AES-ECB
   has no tag, so it decrypts any input. */
static void choose_settings(uint8_t result) {
    static const struct {
        const char *generation, *handlers;
    } wires[] = {{"auto", ""},        {"4.13", ""},       {"4.14", ""},      {"4.18", ""},
                 {"4.19", ""},        {"4.20", ""},       {"4.24", ""},      {"4.25", ""},
                 {"5.1", ""},         {"5.4", ""},        {"5.5", ""},       {"5.8", ""},
                 {"4.25", "aes-ecb"}, {"auto", "aesgcm"}, {"4.25", "oodle"}, {"5.4", "aes-ecb,oodle"}};
    static int present = -1;
    char digit[] = {(char)('0' + (result & 7)), '\0'};
    if ((result & 127) == present) {
        return;
    }
    present = result & 127;
    set("magic_bits", digit);
    set("generation", wires[result >> 3 & 15].generation);
    set("handlers", wires[result >> 3 & 15].handlers);
    set("key", "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f");
    prefs_apply_all();
}

/* Reads one datagram from the input; false at its end. */
static bool read_frame(const uint8_t **data, size_t *size, struct fuzz_frame *frame) {
    if (*size < 2) {
        return false;
    }
    unsigned word = (*data)[0] | (unsigned)(*data)[1] << 8;
    unsigned wanted = word & 0x1fff;
    unsigned cut = word >> 13 & 3;
    frame->captured = (unsigned)MIN(wanted, *size - 2);
    frame->length = frame->captured + cut;
    frame->from_server = word >> 15 != 0;
    frame->bytes = malloc(frame->captured); /* unlike g_malloc, returns a block even for 0 bytes */
    memcpy(frame->bytes, *data + 2, frame->captured);
    *data += 2 + frame->captured;
    *size -= 2 + frame->captured;
    return true;
}

/* Compiled only for tests/fuzz/prove.sh: a read beyond the end of a datagram with a fragment and a closing bunch. */
#ifdef UERUDP_PLANT_BUG
static bool shows(proto_tree *tree, enum ue_field field) {
    GPtrArray *found = proto_find_first_finfo(tree, uerudp_hf[field]);
    bool any = found->len != 0;
    g_ptr_array_free(found, TRUE);
    return any;
}

static void plant_bug(epan_dissect_t *edt, const struct fuzz_frame *frame) {
    if (edt->tree != NULL && shows(edt->tree, UE_F_BUNCH_PARTIAL_FINAL) && shows(edt->tree, UE_F_BUNCH_CLOSE)) {
        volatile uint8_t past = frame->bytes[frame->captured];
        (void)past;
    }
}
#else
static void plant_bug(epan_dissect_t *edt, const struct fuzz_frame *frame) {}
#endif

/* The packet list needs columns and no tree, the details need a tree. */
static void dissect(epan_t *session, struct fuzz_frame *frame, bool details) {
    static nstime_t elapsed;
    static const frame_data *reference;
    wtap_rec rec;
    start_record(&rec, frame);
    rec.rec_type = REC_TYPE_PACKET;
    rec.presence_flags = WTAP_HAS_TS | WTAP_HAS_CAP_LEN;
    rec.ts = time_of(frame->data.num);
    rec.rec_header.packet_header.caplen = frame->captured;
    rec.rec_header.packet_header.len = frame->length;
    rec.rec_header.packet_header.pkt_encap = WTAP_ENCAP_USER0;
    if (!frame->data.visited) {
        frame_data_init(&frame->data, frame->data.num, &rec, 0, 0);
    }
    reference = &frame->data;
    frame_data_set_before_dissect(&frame->data, &elapsed, &reference, NULL);
    epan_dissect_t *edt = epan_dissect_new(session, details, FALSE);
    present = frame;
    run(edt, &rec, frame, details ? NULL : &columns);
    plant_bug(edt, frame);
    epan_dissect_free(edt);
    frame->data.visited = 1;
    wtap_rec_cleanup(&rec);
}

static epan_t *session_for_next_input(void) {
    static epan_t *session;
    if (inputs++ % INPUTS_PER_SESSION == 0) {
        if (session != NULL) {
            epan_free(session);
        }
        session = epan_new(&provider, &provider_functions);
        last_frame_number = 0;
    }
    return session;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct fuzz_frame frames[DATAGRAMS_MAX];
    size_t count = 0;
    if (size == 0) {
        return 0;
    }
    choose_settings(data[0]);
    epan_t *session = session_for_next_input();
    client_port = CLIENT_PORT_FIRST + inputs % INPUTS_PER_SESSION;
    server_port = (data[0] & 128) != 0 ? OTHER_PORT : 7777;
    bool details_at_once = (size & 1) != 0, backwards = (size & 2) != 0, interrupts = (size & 4) != 0;
    data++;
    size--;
    memset(frames, 0, sizeof frames);
    while (count < DATAGRAMS_MAX && read_frame(&data, &size, &frames[count])) {
        frames[count].data.num = ++last_frame_number;
        dissect(session, &frames[count++], details_at_once);
    }
    if (!interrupts) {
        postseq_cleanup_all_protocols();
    }
    for (size_t i = 0; i < count; i++) {
        dissect(session, &frames[backwards ? count - 1 - i : i], true);
    }
    for (size_t i = 0; i < count; i++) {
        frame_data_destroy(&frames[i].data);
        free(frames[i].bytes);
    }
    return 0;
}

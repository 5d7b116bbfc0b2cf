/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A sequence of datagrams through Wireshark itself: first pass, second pass, and backwards as a user clicks.
   The first byte chooses settings and port; then each datagram is a 16-bit word (bit 15: from the server, the rest its
   length) and that many bytes, as in the seeds of fuzz_handshake.c. The top bits of long lengths cut the datagram. The
   taps are heard, so that all that statistics stand on is read, too. */
#include "plugin/compat.h"

#include <stdlib.h>

#include <epan/epan.h>
#include <epan/epan_dissect.h>
#include <epan/prefs.h>
#include <epan/proto.h>
#include <wiretap/wtap.h>
#include <wsutil/filesystem.h>
#include <wsutil/privileges.h>
#include <wsutil/wslog.h>

#include "plugin/fields.h"
#include "plugin/tap.h"

#define DATAGRAMS_MAX 24
#define HEADERS_BYTES 28 /* IPv4 and UDP */
#define OTHER_PORT 31415
/* A session grows with every datagram, and a new one is dear. */
#define INPUTS_PER_SESSION 5000
#define FRAME_NS 5000000
#define COUNT(array) (sizeof(array) / sizeof *(array))

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argument_count, char ***arguments);
void plugin_register(void);
const char *__asan_default_options(void);

/* Wireshark keeps memory until the session ends; looking for leaks after each input would take all the time,
   and so would a stack and long quarantine of each block. */
const char *__asan_default_options(void) {
    return "detect_leaks=0:malloc_context_size=0:quarantine_size_mb=16";
}

struct frame {
    frame_data data;
    uint8_t *bytes;
    uint32_t captured;
    uint32_t length;
};

struct packet_provider_data {
    nstime_t time;
};

static nstime_t time_of(uint32_t frame_number) {
    uint64_t ns = (uint64_t)frame_number * FRAME_NS;
    return (nstime_t){.secs = (time_t)(ns / 1000000000), .nsecs = (int)(ns % 1000000000)};
}

static const nstime_t *give_time(struct packet_provider_data *provider, uint32_t frame_number) {
    provider->time = time_of(frame_number);
    return &provider->time;
}

static struct packet_provider_data provider;
static unsigned inputs;
static uint32_t last_frame_number;
static const struct packet_provider_funcs provider_functions = {.get_frame_ts = give_time};

static void complain(const char *format, va_list arguments) {
    vfprintf(stderr, format, arguments);
}

/* What changed with 4.6: some signatures, and the bytes travel in the record. */
#if UE_WIRESHARK_BEFORE(4, 6)
static void start_library(const char *program) {
    ws_log_init("fuzz_dissector", complain);
    init_process_policies();
    g_free(configuration_init(program, NULL));
}

static void start_record(wtap_rec *rec, const struct frame *frame) {
    (void)frame;
    wtap_rec_init(rec);
}

static void run(epan_dissect_t *edt, wtap_rec *rec, struct frame *frame) {
    tvbuff_t *tvb = tvb_new_real_data(frame->bytes, frame->captured, (int)frame->length);
    epan_dissect_run_with_taps(edt, WTAP_FILE_TYPE_SUBTYPE_UNKNOWN, rec, tvb, &frame->data, NULL);
}
#else
static void start_library(const char *program) {
    ws_log_init(complain);
    init_process_policies();
    g_free(configuration_init(program));
}

static void start_record(wtap_rec *rec, const struct frame *frame) {
    wtap_rec_init(rec, frame->captured);
    ws_buffer_append(&rec->data, frame->bytes, frame->captured);
}

static void run(epan_dissect_t *edt, wtap_rec *rec, struct frame *frame) {
    epan_dissect_run_with_taps(edt, WTAP_FILE_TYPE_SUBTYPE_UNKNOWN, rec, &frame->data, NULL);
}
#endif

/* Only what is under test and what carries it: a crash elsewhere in Wireshark is not ours to find. */
static void enable_few_protocols(void) {
    static const char *const needed[] = {"ip", "udp", "uerudp"};
    void *cookie = NULL;
    for (int id = proto_get_first_protocol(&cookie); id != -1; id = proto_get_next_protocol(&cookie)) {
        if (proto_can_toggle_protocol(id) && !proto_is_pino(find_protocol_by_id(id))) {
            proto_set_decoding(id, FALSE);
        }
    }
    for (size_t i = 0; i < COUNT(needed); i++) {
        proto_set_decoding(proto_get_id_by_filter_name(needed[i]), TRUE);
    }
}

/* ---- taps ---- */

static volatile uint64_t heard; /* keeps what is read from being left out */

static tap_packet_status hear_datagram(void *user, packet_info *pinfo, epan_dissect_t *edt, const void *data,
                                       tap_flags_t flags) {
    const struct ue_tap *tap = data;
    (void)user, (void)pinfo, (void)edt, (void)flags;
    for (uint32_t i = 0; i < tap->verdict_count; i++) {
        heard += (uint64_t)tap->verdicts[i].packet_id;
    }
    for (uint32_t i = 0; i < tap->bunch_count; i++) {
        heard += tap->bunches[i].channel_name != NULL ? strlen(tap->bunches[i].channel_name) : 0;
    }
    return TAP_PACKET_REDRAW;
}

static tap_packet_status hear_message(void *user, packet_info *pinfo, epan_dissect_t *edt, const void *data,
                                      tap_flags_t flags) {
    const struct ue_tap_message *message = data;
    (void)user, (void)pinfo, (void)edt, (void)flags;
    for (size_t i = 0; i < (message->bits + 7) / 8; i++) {
        heard += *tvb_get_ptr(message->tvb, (int)i, 1);
    }
    return TAP_PACKET_REDRAW;
}

static void listen_to(const char *tap, tap_packet_cb hear) {
    static int listeners[2];
    static unsigned count;
    GString *error = register_tap_listener(tap, &listeners[count++], NULL, 0, NULL, hear, NULL, NULL);
    if (error != NULL) {
        abort();
    }
}

int LLVMFuzzerInitialize(int *argument_count, char ***arguments) {
    (void)argument_count;
    g_setenv("WIRESHARK_ABORT_ON_DISSECTOR_BUG", "1", 0);
    g_setenv("WIRESHARK_ABORT_ON_TOO_MANY_ITEMS", "1", 0);
    g_setenv("WIRESHARK_DEBUG_WMEM_OVERRIDE", "simple", 0); /* each block stands alone before the sanitizer */
    g_setenv("HOME", "/nonexistent", 1);
    start_library((*arguments)[0]);
    wtap_init(FALSE);
    plugin_register();
    if (!epan_init(NULL, NULL, FALSE)) {
        abort();
    }
    epan_load_settings();
    enable_few_protocols();
    prefs_apply_all();
    listen_to(UE_TAP_NAME, hear_datagram);
    listen_to(UE_TAP_MESSAGE_NAME, hear_message);
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

/* Bits 0 to 2: length of the magic header; 3 to 6: generation, the last four with a handler; 7: another port. Without a
   tag, aes-ecb opens anything to something. */
static void choose_settings(uint8_t choice) {
    static const struct {
        const char *generation, *handlers;
    } wires[] = {{"auto", ""},        {"4.13", ""},       {"4.14", ""},      {"4.18", ""},
                 {"4.19", ""},        {"4.20", ""},       {"4.22", ""},      {"4.25", ""},
                 {"5.1", ""},         {"5.4", ""},        {"5.5", ""},       {"5.8", ""},
                 {"4.25", "aes-ecb"}, {"auto", "aesgcm"}, {"4.25", "oodle"}, {"5.4", "aes-ecb,oodle"}};
    static int present = -1;
    char digit[] = {(char)('0' + (choice & 7)), '\0'};
    if ((choice & 127) == present) {
        return;
    }
    present = choice & 127;
    set("magic_bits", digit);
    set("generation", wires[choice >> 3 & 15].generation);
    set("handlers", wires[choice >> 3 & 15].handlers);
    set("key", "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f");
    prefs_apply_all();
}

static void put16(uint8_t *to, unsigned value) {
    to[0] = (uint8_t)(value >> 8);
    to[1] = (uint8_t)value;
}

/* Each input has its own client, so that it meets no conversation of an earlier one. */
static void put_headers(uint8_t *to, bool from_server, unsigned port, unsigned length) {
    static const uint8_t ip[] = {0x45, 0, 0, 0, 0, 0, 0, 0, 64, 17, 0, 0};
    const uint8_t server[] = {192, 168, 0, 1};
    const uint8_t client[] = {10, (uint8_t)(inputs >> 16), (uint8_t)(inputs >> 8), (uint8_t)inputs};
    memcpy(to, ip, sizeof ip);
    put16(to + 2, HEADERS_BYTES + length);
    memcpy(to + 12, from_server ? server : client, sizeof client);
    memcpy(to + 16, from_server ? client : server, sizeof client);
    put16(to + 20, from_server ? port : 50000);
    put16(to + 22, from_server ? 50000 : port);
    put16(to + 24, 8 + length);
    put16(to + 26, 0);
}

/* Takes one datagram off the input; false at its end. */
static bool take_frame(const uint8_t **data, size_t *size, unsigned port, struct frame *frame) {
    if (*size < 2) {
        return false;
    }
    unsigned word = (*data)[0] | (unsigned)(*data)[1] << 8;
    unsigned wanted = word & 0x1fff;
    unsigned cut = word >> 13 & 3;
    unsigned present = (unsigned)MIN(wanted, *size - 2);
    frame->length = HEADERS_BYTES + present + cut;
    frame->captured = HEADERS_BYTES + present;
    frame->bytes = g_malloc(frame->captured);
    put_headers(frame->bytes, word >> 15 != 0, port, present + cut);
    memcpy(frame->bytes + HEADERS_BYTES, *data + 2, present);
    *data += 2 + present;
    *size -= 2 + present;
    return true;
}

/* Compiled only for tests/fuzz/prove.sh: a fault behind a fragment and a bunch that opens or closes. */
#ifdef UERUDP_PLANT_BUG
static bool shows(proto_tree *tree, enum ue_field field) {
    GPtrArray *found = proto_find_first_finfo(tree, ue_hf[field]);
    bool any = found->len != 0;
    g_ptr_array_free(found, TRUE);
    return any;
}

static void plant_bug(epan_dissect_t *edt, const struct frame *frame) {
    if (shows(edt->tree, UE_F_BUNCH_PARTIAL_FINAL) && shows(edt->tree, UE_F_BUNCH_CLOSE)) {
        volatile uint8_t past = frame->bytes[frame->captured];
        (void)past;
    }
}
#else
static void plant_bug(epan_dissect_t *edt, const struct frame *frame) {
    (void)edt;
    (void)frame;
}
#endif

static void dissect(epan_t *session, struct frame *frame, bool visible) {
    static nstime_t elapsed;
    static const frame_data *reference;
    wtap_rec rec;
    start_record(&rec, frame);
    rec.rec_type = REC_TYPE_PACKET;
    rec.presence_flags = WTAP_HAS_TS | WTAP_HAS_CAP_LEN;
    rec.ts = time_of(frame->data.num);
    rec.rec_header.packet_header.caplen = frame->captured;
    rec.rec_header.packet_header.len = frame->length;
    rec.rec_header.packet_header.pkt_encap = WTAP_ENCAP_RAW_IP4;
    if (!frame->data.visited) {
        frame_data_init(&frame->data, frame->data.num, &rec, 0, 0);
    }
    reference = &frame->data;
    frame_data_set_before_dissect(&frame->data, &elapsed, &reference, NULL);
    epan_dissect_t *edt = epan_dissect_new(session, TRUE, visible);
    run(edt, &rec, frame);
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
    static struct frame frames[DATAGRAMS_MAX];
    size_t count = 0;
    if (size == 0) {
        return 0;
    }
    choose_settings(data[0]);
    epan_t *session = session_for_next_input();
    unsigned port = (data[0] & 128) != 0 ? OTHER_PORT : 7777;
    data++;
    size--;
    memset(frames, 0, sizeof frames);
    while (count < DATAGRAMS_MAX && take_frame(&data, &size, port, &frames[count])) {
        frames[count].data.num = ++last_frame_number;
        dissect(session, &frames[count++], false);
    }
    for (size_t i = 0; i < 2 * count; i++) {
        dissect(session, &frames[i < count ? i : 2 * count - 1 - i], true);
    }
    for (size_t i = 0; i < count; i++) {
        frame_data_destroy(&frames[i].data);
        g_free(frames[i].bytes);
    }
    return 0;
}

/* SPDX-License-Identifier: MIT */
/* connect --lines: sends lines of standard input as reliable calls (RPCs) on one channel and prints the
   answers. */
#include <string.h>
#include <uerudp/time_ns.h>

#include "tools/connect/mode.h"
#include "tools/live/endpoint_report.h"

/* Longest wait for the answer to the last line. */
#define ANSWER_WAIT_NS UE_NS_PER_S
#define WAITING_BYTES_MAX (64u << 10)
#define LINE_BYTES_MAX 8191

struct lines_mode {
    struct connect_mode mode;
    int64_t channel;
    bool as_json;
    bool is_over; /* the input has ended */
    GQueue lines;
    size_t waiting_bytes;
    uint64_t sent, received;
    uint64_t acked_ns; /* since when everything is acknowledged; 0: it is not */
};

bool connect_mode_lines_add(struct connect_mode *mode, const char *line) {
    struct lines_mode *l = (struct lines_mode *)mode;
    if (line == NULL) {
        l->is_over = true;
        return false;
    }
    g_queue_push_tail(&l->lines, g_strdup(line));
    l->waiting_bytes += strlen(line);
    return l->waiting_bytes < WAITING_BYTES_MAX;
}

static void put_line(struct lines_mode *l, uint32_t channel, const char *line) {
    size_t size = strlen(line);
    l->waiting_bytes -= size;
    if (size > LINE_BYTES_MAX) {
        connect_mode_fail(&l->mode, "a line of %zu bytes is too long: %u at most", size, LINE_BYTES_MAX);
        return;
    }
    l->sent += connect_mode_push(&l->mode, channel, true, (struct ue_view){(const uint8_t *)line, 0, size * 8});
}

static void put_lines(struct lines_mode *l, uint32_t channel) {
    char *line;
    while (l->mode.queue.size_bytes < WAITING_BYTES_MAX && (line = g_queue_pop_head(&l->lines)) != NULL) {
        put_line(l, channel, line);
        g_free(line);
    }
}

static uint32_t channel_of(const struct lines_mode *l) {
    return l->channel >= 0 ? (uint32_t)l->channel : l->mode.channel_count != 0 ? l->mode.channels[0] : 0;
}

/* Whether all lines so far are acknowledged; a connection that has ended does not know. */
static bool is_delivered(const struct lines_mode *l) {
    return ue_conn_state(l->mode.conn) == UE_CONN_OPEN && g_queue_is_empty((GQueue *)&l->lines) &&
           send_queue_is_empty(&l->mode.queue) && (l->sent == 0 || ue_conn_unacked(l->mode.conn, channel_of(l)) == 0);
}

static void finish(struct lines_mode *l, uint64_t now_ns) {
    if (!is_delivered(l) || l->mode.state != CONNECT_MODE_RUNNING) {
        l->acked_ns = 0;
        return;
    }
    l->acked_ns = l->acked_ns != 0 ? l->acked_ns : now_ns;
    uint64_t since_ns = l->acked_ns > l->mode.last_received_ns ? l->acked_ns : l->mode.last_received_ns;
    if (l->is_over && (l->received >= l->sent || now_ns - since_ns > ANSWER_WAIT_NS)) {
        l->mode.state = CONNECT_MODE_DONE;
    }
}

static void tick(struct connect_mode *mode, uint64_t now_ns) {
    struct lines_mode *l = (struct lines_mode *)mode;
    uint32_t channel = channel_of(l);
    if (connect_mode_channel_index(mode, channel) != CONNECT_MODE_NO_CHANNEL) {
        put_lines(l, channel);
        finish(l, now_ns);
    } else if (l->is_over && g_queue_is_empty(&l->lines)) {
        mode->state = CONNECT_MODE_DONE;
    }
}

static void print_line(struct lines_mode *l, const struct ue_event *bunch, struct ue_view text) {
    g_autofree char *line = g_malloc0(ue_bits_bytes(text.bits) + 1);
    ue_view_copy(text, (uint8_t *)line);
    live_report(l->as_json, "message",
                json_pack("{s:i, s:b, s:o}", "channel", (int)bunch->channel, "unreliable", !bunch->reliable, "text",
                          live_report_text(line)));
}

static void receive(struct connect_mode *mode, uint64_t now_ns, const struct ue_event *bunch) {
    struct lines_mode *l = (struct lines_mode *)mode;
    (void)now_ns;
    l->received++;
    print_line(l, bunch, bunch->data);
}

static json_t *result(const struct connect_mode *mode) {
    const struct lines_mode *l = (const struct lines_mode *)mode;
    return json_pack("{s:I, s:I, s:b}", "sent", (json_int_t)l->sent, "received", (json_int_t)l->received, "delivered",
                     l->mode.state != CONNECT_MODE_FAILED && is_delivered(l));
}

static void clear(struct connect_mode *mode) {
    g_queue_clear_full(&((struct lines_mode *)mode)->lines, g_free);
}

struct connect_mode *connect_mode_lines_new(const struct connect_mode_options *options) {
    static const struct connect_mode_type kind = {
        .name = "lines", .receive = receive, .tick = tick, .result = result, .clear = clear};
    struct lines_mode *l = g_new0(struct lines_mode, 1);
    l->mode.kind = &kind;
    l->channel = options->channel;
    l->as_json = options->as_json;
    g_queue_init(&l->lines);
    return &l->mode;
}

/* SPDX-License-Identifier: MIT */
#include "tools/generate/connection_frames.h"

#define FRAMES_TAKEN_MAX 4096 /* that were popped and are still in front of the waiting ones */

static bool leaves_here(const struct connection_frames *source, enum ue_role from) {
    return source->point == GENERATE_CAPTURE_SENDER ||
           (source->point == GENERATE_CAPTURE_CLIENT) == (from == UE_ROLE_CLIENT);
}

static void capture(struct connection_frames *source, const struct sim_datagram *datagram) {
    const struct sim_link_report *report = datagram->report;
    struct connection_frame frame = {.time_ns = report->now_ns + source->offset_ns,
                                     .from = datagram->from,
                                     .number = report->number,
                                     .copy = report->copy,
                                     .is_corrupted = report->corrupted,
                                     .begin = source->bytes->len,
                                     .size_bytes = report->size_bytes};
    g_byte_array_append(source->bytes, report->bytes, (guint)report->size_bytes);
    g_array_append_val(source->frames, frame);
}

/* A server has no context before it accepts; it encodes as the client does, in the other direction. */
static void learn_context(struct connection_frames *source, const struct sim_datagram *datagram) {
    struct ue_context *other = &source->contexts[!datagram->from];
    source->contexts[datagram->from] = *datagram->context;
    if (other->direction == UE_DIRECTION_UNKNOWN) {
        *other = *datagram->context;
        other->direction = ue_direction_reverse(datagram->context->direction);
    }
}

static void see_datagram(struct connection_frames *source, const struct sim_datagram *datagram) {
    const struct sim_link_report *report = datagram->report;
    struct datagram_outcome *outcome = datagram_outcome_ring_update(&source->outcomes[datagram->from], datagram);
    if (datagram->context != NULL && report->event == SIM_DATAGRAM_SENT) {
        learn_context(source, datagram);
    }
    if (source->run_log != NULL && report->event == SIM_DATAGRAM_SENT) {
        run_log_add_datagram(source->run_log, datagram);
    }
    if (report->event == (leaves_here(source, datagram->from) ? SIM_DATAGRAM_SENT : SIM_DATAGRAM_ARRIVED)) {
        capture(source, datagram);
        outcome->frames++;
    }
}

/* ---- events of the run, for each of its streams ---- */

static void see(void *user, const struct sim_datagram *datagram) {
    for (struct connection_frames *source = user; source != NULL; source = source->second) {
        see_datagram(source, datagram);
    }
}

static void on_message_sent(void *user, const struct sim_message *sent) {
    for (const struct connection_frames *source = user; source != NULL; source = source->second) {
        run_log_add_message(source->run_log, sent);
    }
}

static void deliver(void *user, const struct sim_delivery *delivery) {
    for (const struct connection_frames *source = user; source != NULL; source = source->second) {
        run_log_add_delivery(source->run_log, delivery);
    }
}

static void on_packet_reported(void *user, enum ue_role side, int64_t packet_id, bool delivered) {
    for (const struct connection_frames *source = user; source != NULL; source = source->second) {
        run_log_add_ack(source->run_log, side, packet_id, delivered);
    }
}

static void on_game(void *user, const struct sim_game_event *event) {
    for (const struct connection_frames *source = user; source != NULL; source = source->second) {
        game_sidecar_add(source->game_sidecar, event);
    }
}

static void end(void *user, enum ue_role side, enum ue_close_reason reason) {
    for (const struct connection_frames *source = user; source != NULL; source = source->second) {
        run_log_add_close(source->run_log, side, reason);
    }
}

static void step(struct connection_frames *source) {
    bool is_over = !sim_step(source->sim);
    for (source = source->first != NULL ? source->first : source; source != NULL; source = source->second) {
        source->is_over = is_over;
    }
}

/* ---- streams ---- */

/* Everything but the run. */
static void init_capture(struct connection_frames *source, const struct sim_scenario *scenario,
                         enum generate_capture_point point, uint64_t offset_ns, bool with_run_log) {
    *source = (struct connection_frames){.scenario = *scenario, .point = point, .offset_ns = offset_ns};
    source->scenario.unchecked = !with_run_log;
    source->run_log = with_run_log ? run_log_new() : NULL;
    source->game_sidecar = with_run_log && scenario->game ? game_sidecar_new() : NULL;
    source->frames = g_array_new(FALSE, FALSE, sizeof(struct connection_frame));
    source->bytes = g_byte_array_new();
}

bool connection_frames_init(struct connection_frames *source, const struct sim_scenario *scenario,
                            enum generate_capture_point point, uint64_t offset_ns, bool with_run_log) {
    struct sim_callbacks watch = {.datagram = see, .user = source};
    if (with_run_log) {
        watch = (struct sim_callbacks){on_message_sent, deliver, see, on_packet_reported, end, on_game, source};
    }
    init_capture(source, scenario, point, offset_ns, with_run_log);
    source->sim = sim_new(&source->scenario, &watch);
    return source->sim != NULL;
}

void connection_frames_init_second(struct connection_frames *source, struct connection_frames *first,
                                   enum generate_capture_point point) {
    init_capture(source, &first->scenario, point, first->offset_ns, first->run_log != NULL);
    source->sim = first->sim;
    source->first = first;
    first->second = source;
}

void connection_frames_clear(struct connection_frames *source) {
    if (source->first == NULL) {
        sim_free(source->sim);
    }
    run_log_free(source->run_log);
    game_sidecar_free(source->game_sidecar);
    datagram_outcome_ring_clear(&source->outcomes[0]);
    datagram_outcome_ring_clear(&source->outcomes[1]);
    if (source->frames != NULL) {
        g_array_unref(source->frames);
        g_byte_array_unref(source->bytes);
    }
    *source = (struct connection_frames){0};
}

/* A datagram that is captured where it leaves waits until its outcome is known, for the comment. */
static bool is_ready(const struct connection_frames *source, const struct connection_frame *frame) {
    return source->is_over || !leaves_here(source, frame->from) ||
           connection_frames_outcome(source, frame)->copies_in_link == 0;
}

const struct connection_frame *connection_frames_peek(struct connection_frames *source) {
    while (true) {
        if (source->head < source->frames->len) {
            const struct connection_frame *frame =
                &g_array_index(source->frames, struct connection_frame, source->head);
            if (is_ready(source, frame)) {
                return frame;
            }
        } else if (source->is_over) {
            return NULL;
        }
        step(source);
    }
}

void connection_frames_comment(const struct connection_frames *source, const struct connection_frame *frame,
                               char text[PACKET_COMMENT_BYTES]) {
    packet_comment_write(connection_frames_outcome(source, frame), leaves_here(source, frame->from), frame->copy,
                         frame->is_corrupted, frame->time_ns - source->offset_ns, text);
}

/* Moves the waiting frames to the front once enough were popped. */
static void drop_popped_frames(struct connection_frames *source) {
    bool is_empty = source->head == source->frames->len;
    if (!is_empty && source->head < FRAMES_TAKEN_MAX) {
        return;
    }
    size_t begin =
        is_empty ? source->bytes->len : g_array_index(source->frames, struct connection_frame, source->head).begin;
    g_array_remove_range(source->frames, 0, source->head);
    g_byte_array_remove_range(source->bytes, 0, (guint)begin);
    for (guint i = 0; i < source->frames->len; i++) {
        g_array_index(source->frames, struct connection_frame, i).begin -= begin;
    }
    source->head = 0;
}

void connection_frames_pop(struct connection_frames *source, uint64_t frame_number) {
    const struct connection_frame *frame = &g_array_index(source->frames, struct connection_frame, source->head);
    struct datagram_outcome *outcome = connection_frames_outcome(source, frame);
    outcome->frames--;
    outcome->frame = outcome->frame == 0 ? frame_number : outcome->frame;
    if (source->run_log != NULL) {
        struct run_log_frame captured = {.from = frame->from,
                                         .number = frame->number,
                                         .time_ns = frame->time_ns,
                                         .size_bytes = frame->size_bytes,
                                         .is_corrupted = frame->is_corrupted};
        run_log_add_frame(source->run_log, &captured);
    }
    source->head++;
    drop_popped_frames(source);
    if (source->run_log == NULL) {
        datagram_outcome_ring_drop(&source->outcomes[0]);
        datagram_outcome_ring_drop(&source->outcomes[1]);
    }
}

/* SPDX-License-Identifier: MIT */
#include "tools/replay/observation_text.h"

#include <glib.h>
#include <inttypes.h>
#include <uerudp/time_ns.h>

#include "tools/print/phrase.h"
#include "tools/print/text_escape.h"

#define US_PER_S 1000000

/* ---- lines ---- */

static void start_datagram(struct observation_text *t, uint64_t frame, int64_t time_ns, unsigned role) {
    if (!t->has_begun) {
        t->has_begun = true;
        t->first_ns = time_ns;
    }
    t->frame = frame;
    int64_t us = (time_ns - t->first_ns) / UE_NS_PER_US;
    text_buffer_add_format(&t->out, "%6" PRIu64 " %s%" PRId64 ".%06" PRId64, frame, us < 0 ? "-" : "",
                           ABS(us) / US_PER_S, ABS(us) % US_PER_S);
    if (t->names_streams) {
        text_buffer_add_format(&t->out, " stream %" PRIu32, t->stream);
    }
    text_buffer_add_format(&t->out, " %s ", phrase_side(role));
}

static void start_detail(struct observation_text *t) {
    text_buffer_add(&t->out, "           ");
}

/* ---- acks ---- */

static const char *verb_of(const struct ue_observed_event *event) {
    if (event->ack.is_withdrawn) {
        return "proves that nobody received the acks of";
    }
    return event->type == UE_OBSERVED_ACK ? "acknowledges" : "reports as not delivered";
}

static void end_run(struct observation_text *t) {
    struct text_buffer *out = &t->out;
    if (!t->in_run) {
        return;
    }
    t->in_run = false;
    start_detail(t);
    if (t->run_frame != t->frame) {
        text_buffer_add_format(out, "confirms that frame %" PRIu64 " ", t->run_frame);
    }
    text_buffer_add_format(out, "%s %" PRId64, t->run_verb, t->run_first);
    if (t->run_last != t->run_first) {
        text_buffer_add_format(out, " to %" PRId64, t->run_last);
    }
    if (t->run_first_frame == 0) {
        text_buffer_add(out, ", not in the capture\n");
        return;
    }
    text_buffer_add_format(out, " (frame %" PRIu64, t->run_first_frame);
    if (t->run_last_frame != t->run_first_frame) {
        text_buffer_add_format(out, " to %" PRIu64, t->run_last_frame);
    }
    if (t->run_span_ns >= 0) {
        const char *since = t->run_frame != t->frame ? "before" : "ago";
        text_buffer_add_format(out, ", %s %s", phrase_duration(t->run_span_ns).text, since);
    }
    text_buffer_add(out, ")\n");
}

static void print_ack(struct observation_text *t, const struct ue_observed_event *event) {
    bool is_seen = event->ack.frame != 0;
    const char *verb = verb_of(event);
    bool continues = t->in_run && verb == t->run_verb && event->frame == t->run_frame &&
                     event->ack.packet_id == t->run_last + 1 && is_seen == (t->run_first_frame != 0);
    if (!continues) {
        end_run(t);
        t->in_run = true;
        t->run_verb = verb;
        t->run_frame = event->frame;
        t->run_first = event->ack.packet_id;
        t->run_first_frame = event->ack.frame;
    }
    t->run_last = event->ack.packet_id;
    t->run_last_frame = event->ack.frame;
    t->run_span_ns = event->ack.span_ns;
}

/* ---- packets ---- */

static void print_handshake(struct observation_text *t, const struct ue_observed_event *event) {
    const struct ue_handshake *handshake = event->handshake.decoded;
    const char *name = ue_values_name(ue_field_row(UE_F_HANDSHAKE_TYPE)->values, handshake->type);
    start_datagram(t, event->frame, event->time_ns, event->side);
    text_buffer_add_format(&t->out, "handshake %s", name != NULL ? name : "of unknown type");
    if (event->handshake.answer_ns >= 0) {
        text_buffer_add_format(&t->out, ", %s after what it answers", phrase_duration(event->handshake.answer_ns).text);
    }
    text_buffer_add_char(&t->out, '\n');
}

static void print_packet(struct observation_text *t, const struct ue_observed_event *event) {
    struct text_buffer *out = &t->out;
    start_datagram(t, event->frame, event->time_ns, event->side);
    text_buffer_add_format(out, "packet %" PRId64 ", %zu bytes", event->packet_id, t->size_bytes);
    if (event->packet.is_duplicate) {
        if (event->packet.first_frame != 0) {
            text_buffer_add_format(out, ", the same as in frame %" PRIu64, event->packet.first_frame);
        } else {
            text_buffer_add(out, ", captured before");
        }
    } else if (event->packet.is_late) {
        text_buffer_add(out, ", late");
    }
    if (event->packet.in_flight > 1) {
        text_buffer_add_format(out, ", %" PRIu32 " in flight", event->packet.in_flight);
    }
    text_buffer_add_char(out, '\n');
}

/* Packets that the datagram shows to be missing get a line of their own before it. */
static void print_missing(struct observation_text *t, const struct ue_observed_event *event) {
    start_datagram(t, event->frame, event->time_ns, event->side);
    text_buffer_add_format(&t->out, "packet %" PRId64, event->lost.first_id);
    if (event->lost.last_id != event->lost.first_id) {
        text_buffer_add_format(&t->out, " to %" PRId64, event->lost.last_id);
    }
    text_buffer_add(&t->out, " not seen\n");
}

/* ---- bunches ---- */

static const char *fragment_text(const struct ue_bunch *bunch) {
    return bunch->partial_initial && bunch->partial_final ? ", only part"
           : bunch->partial_initial                       ? ", first part"
           : bunch->partial_final                         ? ", last part"
                                                          : ", middle part";
}

static void put_channel(struct observation_text *t, const struct ue_bunch *bunch) {
    const char *name = ue_bunch_channel_name(t->context, bunch);
    text_buffer_add_format(&t->out, "channel %" PRIu32, bunch->channel);
    if (name != NULL) {
        text_buffer_add_format(&t->out, " %s", name);
    } else if (bunch->has_name && !bunch->name.hardcoded) {
        text_buffer_add_char(&t->out, ' ');
        text_escape_add_engine_text(&t->out, bunch->name.text, TEXT_ESCAPE_PLAIN);
    }
}

static void put_copy(struct text_buffer *out, const struct ue_observed_event *event) {
    if (event->bunch.copy <= 1) {
        return;
    }
    text_buffer_add_format(out, ", sent again (copy %" PRIu32, event->bunch.copy);
    if (event->bunch.previous_frame != 0) {
        text_buffer_add_format(out, ", before in frame %" PRIu64, event->bunch.previous_frame);
    }
    if (event->bunch.first_frame != 0 && event->bunch.first_frame != event->bunch.previous_frame) {
        text_buffer_add_format(out, ", first in frame %" PRIu64, event->bunch.first_frame);
    }
    text_buffer_add(out, event->bunch.is_spurious ? ", needlessly: a copy was delivered)" : ")");
}

static void print_anomalies(struct text_buffer *out, const struct ue_observed_event *event) {
    if (event->bunch.is_jump) {
        text_buffer_add(out, ", with an impossible jump of the sequence");
    } else if (event->bunch.is_gap) {
        text_buffer_add(out, ", after some that were not captured");
    }
    if (event->bunch.is_partial_error) {
        text_buffer_add(out, ", a part that does not fit");
    }
}

static void print_bunch(struct observation_text *t, const struct ue_observed_event *event) {
    const struct ue_bunch *bunch = event->bunch.decoded;
    struct text_buffer *out = &t->out;
    start_detail(t);
    put_channel(t, bunch);
    if (event->bunch.reliable_id >= 0) {
        text_buffer_add_format(out, " reliable %" PRId64, event->bunch.reliable_id);
    } else {
        text_buffer_add(out, bunch->reliable ? " reliable" : " unreliable");
    }
    text_buffer_add_format(out, ", %zu bits", bunch->data.bits);
    text_buffer_add(out, bunch->partial ? fragment_text(bunch) : "");
    text_buffer_add(out, bunch->has_exports ? ", exports" : "");
    text_buffer_add(out, bunch->has_mapped ? ", must-be-mapped ids" : "");
    put_copy(out, event);
    print_anomalies(out, event);
    text_buffer_add_char(out, '\n');
}

static void print_opened(struct observation_text *t, const struct ue_observed_event *event) {
    start_detail(t);
    text_buffer_add(&t->out, "opens ");
    put_channel(t, event->channel.bunch);
    text_buffer_add_char(&t->out, '\n');
}

static void print_closed(struct observation_text *t, const struct ue_observed_event *event) {
    const char *why = ue_values_name(ue_field_row(UE_F_BUNCH_CLOSE_REASON)->values, event->channel.close_reason);
    start_detail(t);
    text_buffer_add(&t->out, "closes ");
    put_channel(t, event->channel.bunch);
    if (why != NULL && t->context->profile.packet != UE_PACKET_LEGACY) {
        text_buffer_add_format(&t->out, " (%s)", why);
    }
    if (event->channel.open_ns >= 0) {
        text_buffer_add_format(&t->out, ", which was open for %s", phrase_duration(event->channel.open_ns).text);
    }
    text_buffer_add_char(&t->out, '\n');
}

static void print_reset(struct observation_text *t) {
    start_detail(t);
    text_buffer_add(&t->out, "the restart is complete: the connection continues\n");
}

static void print_disproved(struct observation_text *t, const struct ue_observed_event *event) {
    start_datagram(t, event->frame, event->time_ns, event->side);
    text_buffer_add_format(&t->out,
                           "packets %" PRId64 " to %" PRId64
                           " are not missing: the sequence has not reached them yet, and the packet in frame %" PRIu64
                           " has a damaged number, or came early\n",
                           event->lost.first_id, event->lost.last_id, event->lost.jump_frame);
}

/* ---- tracker events ---- */

void observation_text_event(void *user, const struct ue_observed_event *event) {
    struct observation_text *t = user;
    if (!t->is_wanted) {
        return;
    }
    if (event->type == UE_OBSERVED_ACK || event->type == UE_OBSERVED_NAK) {
        print_ack(t, event);
        return;
    }
    end_run(t);
    switch (event->type) {
    case UE_OBSERVED_HANDSHAKE: print_handshake(t, event); break;
    case UE_OBSERVED_PACKET: print_packet(t, event); break;
    case UE_OBSERVED_LOST: print_missing(t, event); break;
    case UE_OBSERVED_NOT_LOST: print_disproved(t, event); break;
    case UE_OBSERVED_BUNCH: print_bunch(t, event); break;
    case UE_OBSERVED_CHANNEL_OPENED: print_opened(t, event); break;
    case UE_OBSERVED_CHANNEL_CLOSED: print_closed(t, event); break;
    case UE_OBSERVED_RESTARTED: print_reset(t); break;
    default: break;
    }
}

void observation_text_end_datagram(struct observation_text *text) {
    end_run(text);
}

void observation_text_other(struct observation_text *text, uint64_t frame, int64_t time_ns, unsigned role,
                            const char *what) {
    start_datagram(text, frame, time_ns, role);
    text_buffer_add_format(&text->out, "%s, %zu bytes\n", what, text->size_bytes);
}

void observation_text_free(struct observation_text *text) {
    text_buffer_free(&text->out);
}

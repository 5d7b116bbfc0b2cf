/* SPDX-License-Identifier: MIT */
#include "tools/replay/observation_text.h"

#include <glib.h>
#include <inttypes.h>

#include "tools/print/phrase.h"

#define NS_PER_US 1000
#define US_PER_S 1000000

/* ---- lines ---- */

static void begin_datagram(struct ue_transcript *t, uint64_t frame, int64_t time_ns, unsigned role) {
    if (!t->has_begun) {
        t->has_begun = true;
        t->first_ns = time_ns;
    }
    int64_t us = (time_ns - t->first_ns) / NS_PER_US;
    ue_out_format(&t->out, "%6" PRIu64 " %s%" PRId64 ".%06" PRId64, frame, us < 0 ? "-" : "", ABS(us) / US_PER_S,
                  ABS(us) % US_PER_S);
    if (t->names_streams) {
        ue_out_format(&t->out, " stream %" PRIu32, t->stream);
    }
    ue_out_format(&t->out, " %s ", ue_side_name(role));
}

static void begin_detail(struct ue_transcript *t) {
    ue_out_text(&t->out, "           ");
}

/* ---- verdicts ---- */

static const char *verb_of(const struct ue_track_event *event) {
    if (event->is_withdrawn) {
        return "proves that nobody heard the acks of";
    }
    return event->type == UE_TRACK_ACKED ? "acknowledges" : "reports as not delivered";
}

static void end_run(struct ue_transcript *t) {
    struct ue_out *out = &t->out;
    if (!t->in_run) {
        return;
    }
    t->in_run = false;
    begin_detail(t);
    ue_out_format(out, "%s %" PRId64, t->run_verb, t->run_first);
    if (t->run_last != t->run_first) {
        ue_out_format(out, " to %" PRId64, t->run_last);
    }
    if (t->run_first_frame == 0) {
        ue_out_text(out, ", not in the capture\n");
        return;
    }
    ue_out_format(out, " (frame %" PRIu64, t->run_first_frame);
    if (t->run_last_frame != t->run_first_frame) {
        ue_out_format(out, " to %" PRIu64, t->run_last_frame);
    }
    ue_out_format(out, ", %s ago)\n", ue_span_words(t->run_span_ns).text);
}

static void tell_verdict(struct ue_transcript *t, const struct ue_track_event *event) {
    bool is_seen = event->other_frame != 0;
    const char *verb = verb_of(event);
    bool continues =
        t->in_run && verb == t->run_verb && event->packet_id == t->run_last + 1 && is_seen == (t->run_first_frame != 0);
    if (!continues) {
        end_run(t);
        t->in_run = true;
        t->run_verb = verb;
        t->run_first = event->packet_id;
        t->run_first_frame = event->other_frame;
    }
    t->run_last = event->packet_id;
    t->run_last_frame = event->other_frame;
    t->run_span_ns = event->span_ns;
}

/* ---- packets ---- */

static void tell_handshake(struct ue_transcript *t, const struct ue_track_event *event) {
    const struct ue_handshake *handshake = &event->datagram->handshake;
    const char *name = ue_values_name(ue_field_row(UE_F_HANDSHAKE_TYPE)->values, handshake->type);
    begin_datagram(t, event->frame, event->time_ns, event->side);
    ue_out_format(&t->out, "handshake %s", name != NULL ? name : "of unknown type");
    if (event->span_ns >= 0) {
        ue_out_format(&t->out, ", %s after what it answers", ue_span_words(event->span_ns).text);
    }
    ue_out_char(&t->out, '\n');
}

static void tell_packet(struct ue_transcript *t, const struct ue_track_event *event) {
    struct ue_out *out = &t->out;
    begin_datagram(t, event->frame, event->time_ns, event->side);
    ue_out_format(out, "packet %" PRId64 ", %zu bytes", event->packet_id, t->size_bytes);
    if (event->is_duplicate) {
        ue_out_format(out, ", the same as in frame %" PRIu64, event->other_frame);
    } else if (event->is_late) {
        ue_out_text(out, ", late");
    }
    if (event->packets_in_flight > 1) {
        ue_out_format(out, ", %" PRIu32 " in flight", event->packets_in_flight);
    }
    ue_out_char(out, '\n');
}

/* What comes before the datagram that shows it stands on a line of its own. */
static void tell_missing(struct ue_transcript *t, const struct ue_track_event *event) {
    begin_datagram(t, event->frame, event->time_ns, event->side);
    ue_out_format(&t->out, "packet %" PRId64, event->packet_id);
    if (event->last_id != event->packet_id) {
        ue_out_format(&t->out, " to %" PRId64, event->last_id);
    }
    ue_out_text(&t->out, " not seen\n");
}

/* ---- bunches ---- */

static const char *part_words(const struct ue_bunch *bunch) {
    return bunch->partial_initial && bunch->partial_final ? ", only part"
           : bunch->partial_initial                       ? ", first part"
           : bunch->partial_final                         ? ", last part"
                                                          : ", middle part";
}

static void put_channel(struct ue_transcript *t, const struct ue_bunch *bunch) {
    const char *name = ue_bunch_channel_name(t->context, bunch);
    ue_out_format(&t->out, "channel %" PRIu32, bunch->channel);
    if (name != NULL) {
        ue_out_format(&t->out, " %s", name);
    } else if (bunch->has_name && !bunch->name.hardcoded) {
        ue_out_char(&t->out, ' ');
        ue_out_engine_text(&t->out, bunch->name.text, UE_ESCAPE_PLAIN);
    }
}

static void put_copy(struct ue_out *out, const struct ue_track_event *event) {
    if (event->copy <= 1) {
        return;
    }
    ue_out_format(out, ", sent again (copy %" PRIu32, event->copy);
    if (event->other_frame != 0) {
        ue_out_format(out, ", before in frame %" PRIu64, event->other_frame);
    }
    if (event->first_frame != 0 && event->first_frame != event->other_frame) {
        ue_out_format(out, ", first in frame %" PRIu64, event->first_frame);
    }
    ue_out_text(out, event->is_spurious ? ", needlessly: a copy was delivered)" : ")");
}

static void put_doubts(struct ue_out *out, const struct ue_track_event *event) {
    if (event->is_jump) {
        ue_out_text(out, ", an impossible jump of the sequence");
    } else if (event->is_gap) {
        ue_out_text(out, ", behind some that were not seen");
    }
    if (event->is_partial_error) {
        ue_out_text(out, ", a part that does not fit");
    }
}

static void tell_bunch(struct ue_transcript *t, const struct ue_track_event *event) {
    const struct ue_bunch *bunch = event->bunch;
    struct ue_out *out = &t->out;
    begin_detail(t);
    put_channel(t, bunch);
    if (event->reliable_id >= 0) {
        ue_out_format(out, " reliable %" PRId64, event->reliable_id);
    } else {
        ue_out_text(out, bunch->reliable ? " reliable" : " unreliable");
    }
    ue_out_format(out, ", %zu bits", bunch->data.bits);
    ue_out_text(out, bunch->partial ? part_words(bunch) : "");
    ue_out_text(out, bunch->has_exports ? ", exports" : "");
    ue_out_text(out, bunch->has_mapped ? ", must-be-mapped ids" : "");
    put_copy(out, event);
    put_doubts(out, event);
    ue_out_char(out, '\n');
}

static void tell_opened(struct ue_transcript *t, const struct ue_track_event *event) {
    begin_detail(t);
    ue_out_text(&t->out, "opens ");
    put_channel(t, event->bunch);
    ue_out_char(&t->out, '\n');
}

static void tell_closed(struct ue_transcript *t, const struct ue_track_event *event) {
    const char *why = ue_values_name(ue_field_row(UE_F_BUNCH_CLOSE_REASON)->values, event->close_reason);
    begin_detail(t);
    ue_out_text(&t->out, "closes ");
    put_channel(t, event->bunch);
    if (why != NULL && t->context->profile.packet != UE_PACKET_LEGACY) {
        ue_out_format(&t->out, " (%s)", why);
    }
    if (event->span_ns >= 0) {
        ue_out_format(&t->out, ", which was open for %s", ue_span_words(event->span_ns).text);
    }
    ue_out_char(&t->out, '\n');
}

static void tell_reset(struct ue_transcript *t) {
    begin_detail(t);
    ue_out_text(&t->out, "the restart is over: the connection goes on\n");
}

static void tell_disproved(struct ue_transcript *t, const struct ue_track_event *event) {
    begin_datagram(t, event->frame, event->time_ns, event->side);
    ue_out_format(&t->out,
                  "packets %" PRId64 " to %" PRId64 " do not exist: the number in frame %" PRIu64 " is damaged\n",
                  event->packet_id, event->last_id, event->other_frame);
}

/* ---- the sink ---- */

void ue_transcript_tell(void *user, const struct ue_track_event *event) {
    struct ue_transcript *t = user;
    if (!t->is_wanted) {
        return;
    }
    if (event->type == UE_TRACK_ACKED || event->type == UE_TRACK_NACKED) {
        tell_verdict(t, event);
        return;
    }
    end_run(t);
    switch (event->type) {
    case UE_TRACK_HANDSHAKE: tell_handshake(t, event); break;
    case UE_TRACK_PACKET: tell_packet(t, event); break;
    case UE_TRACK_MISSING: tell_missing(t, event); break;
    case UE_TRACK_DISPROVED: tell_disproved(t, event); break;
    case UE_TRACK_BUNCH: tell_bunch(t, event); break;
    case UE_TRACK_OPENED: tell_opened(t, event); break;
    case UE_TRACK_CLOSED: tell_closed(t, event); break;
    case UE_TRACK_RESET: tell_reset(t); break;
    default: break;
    }
}

void ue_transcript_end(struct ue_transcript *transcript) {
    end_run(transcript);
}

void ue_transcript_other(struct ue_transcript *transcript, uint64_t frame, int64_t time_ns, unsigned role,
                         const char *what) {
    begin_datagram(transcript, frame, time_ns, role);
    ue_out_format(&transcript->out, "%s, %zu bytes\n", what, transcript->size_bytes);
}

void ue_transcript_free(struct ue_transcript *transcript) {
    ue_out_free(&transcript->out);
}

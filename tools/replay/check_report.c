/* SPDX-License-Identifier: MIT */
#include "tools/replay/check_report.h"

#include "tools/print/json.h"
#include "tools/print/phrase.h"
#include "tools/print/text_style.h"

static void print_side(struct text_buffer *out, const struct replay_connection *v, unsigned role) {
    const struct replay_side *side = &v->sides[role];
    const char *obstacle = replay_connection_obstacle(v, role);
    text_buffer_add_format(out, "  %s: ", phrase_side(role));
    if (obstacle != NULL && side->packets == 0) {
        text_buffer_add_format(out, "not compared: %s\n", obstacle);
        return;
    }
    struct reference_model_retransmissions retransmissions = replay_side_retransmissions(side);
    text_buffer_add_format(out, "%llu packets compared, %llu bunches delivered to it",
                           (unsigned long long)side->packets, (unsigned long long)side->delivered);
    if (retransmissions.early + retransmissions.late != 0) {
        text_buffer_add_format(
            out, "; resends: %llu without a report in a packet that it acknowledged, %llu later than at once",
            (unsigned long long)retransmissions.early, (unsigned long long)retransmissions.late);
    }
    if (side->undecrypted != 0) {
        text_buffer_add_format(out, "; %llu packets of it do not decrypt", (unsigned long long)side->undecrypted);
    }
    if (side->uncaptured != 0) {
        text_buffer_add_format(out, "; %s that it acknowledged %s not in the capture",
                               phrase_count(side->uncaptured, "packet").text, side->uncaptured == 1 ? "is" : "are");
    }
    if (obstacle != NULL) {
        text_buffer_add_format(out, "; the rest is not compared: %s", obstacle);
    }
    text_buffer_add_char(out, '\n');
}

static void print_ignored(struct text_buffer *out, const struct replay_connection *v, uint32_t ignored) {
    for (int type = 0; type < REFERENCE_MODEL_DIFFERENCE_COUNT; type++) {
        for (unsigned role = 0; role < 2; role++) {
            uint64_t count = v->sides[role].differences[type];
            if ((ignored >> type & 1) != 0 && count != 0) {
                text_buffer_add_format(out, "  ignored: the %s %s [%s], %llu times\n", phrase_side(role),
                                       reference_model_difference_text(type), reference_model_difference_name(type),
                                       (unsigned long long)count);
            }
        }
    }
}

static const char *result_text(const struct replay_connection *v) {
    return replay_connection_difference(v) != NULL ? "differs"
           : replay_connection_is_compared(v)      ? "no difference"
                                                   : "not compared";
}

void check_report_print_text(const struct replay_connection *v, struct text_buffer *out) {
    const struct replay_difference *difference = replay_connection_difference(v);
    text_style_begin(out, TEXT_STYLE_TITLE);
    text_buffer_add_format(out, "stream %u: %s to server %s, generation %s", v->stream, v->texts[0], v->texts[1],
                           v->generation);
    text_style_end(out, TEXT_STYLE_TITLE);
    text_buffer_add(out, ": ");
    text_style_add(out, difference != NULL ? TEXT_STYLE_ERROR : TEXT_STYLE_PLAIN, result_text(v));
    text_buffer_add_char(out, '\n');
    print_side(out, v, 0);
    print_side(out, v, 1);
    print_ignored(out, v, v->all->ignored);
    if (difference != NULL) {
        replay_difference_print(difference, out);
    }
}

static void print_json_side(struct text_buffer *out, const struct replay_connection *v, unsigned role) {
    const struct replay_side *side = &v->sides[role];
    const char *obstacle = replay_connection_obstacle(v, role);
    text_buffer_add_format(out, ",\"%s\":{\"address\":\"%s\",\"compared\":%llu,\"delivered\":%llu", phrase_side(role),
                           v->texts[role], (unsigned long long)side->packets, (unsigned long long)side->delivered);
    if (side->has_begun) {
        struct reference_model_retransmissions retransmissions = replay_side_retransmissions(side);
        text_buffer_add_format(out, ",\"resent_early\":%llu,\"resent_late\":%llu",
                               (unsigned long long)retransmissions.early, (unsigned long long)retransmissions.late);
    }
    if (side->undecrypted != 0) {
        text_buffer_add_format(out, ",\"undecrypted\":%llu", (unsigned long long)side->undecrypted);
    }
    if (side->uncaptured != 0) {
        text_buffer_add_format(out, ",\"uncaptured\":%llu", (unsigned long long)side->uncaptured);
    }
    if (obstacle != NULL) {
        text_buffer_add_format(out, ",\"not_compared\":\"%s\"", obstacle);
    }
    text_buffer_add_char(out, '}');
}

void check_report_print_json(const struct replay_connection *v, struct text_buffer *out) {
    const struct replay_difference *difference = replay_connection_difference(v);
    text_buffer_add_format(out, "{\"schema\":%d,\"stream\":%u,\"generation\":\"%s\",\"differs\":%s", PRINT_JSON_SCHEMA,
                           v->stream, v->generation, difference != NULL ? "true" : "false");
    print_json_side(out, v, 0);
    print_json_side(out, v, 1);
    if (difference != NULL) {
        text_buffer_add(out, ",\"difference\":{");
        replay_difference_print_json(difference, out);
        text_buffer_add_char(out, '}');
    }
    text_buffer_add(out, "}\n");
}

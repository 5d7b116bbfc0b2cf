/* SPDX-License-Identifier: MIT */
#include "tools/script/transcript.h"

#include <string.h>
#include <uerudp/time_ns.h>

void script_transcript_init(struct script_transcript *t) {
    *t = (struct script_transcript){.head = g_string_new(NULL), .tail = g_string_new(NULL)};
    g_queue_init(&t->lines);
}

void script_line_free(struct script_line *line) {
    g_free(line->text);
    g_free(line);
}

void script_transcript_clear(struct script_transcript *t) {
    g_queue_clear_full(&t->lines, (GDestroyNotify)(void (*)(void))script_line_free);
    g_string_free(t->head, TRUE);
    g_string_free(t->tail, TRUE);
}

void script_transcript_end_line(struct script_transcript *t) {
    if (t->times == 0) {
        return;
    }
    GString *text = g_string_new(NULL);
    g_string_append_printf(text, "%.4f %s", (double)t->line.time_ns / UE_NS_PER_S, t->head->str);
    if (t->first >= 0) {
        g_string_append_printf(text, "%" G_GINT64_FORMAT, t->first);
    }
    if (t->last != t->first) {
        g_string_append_printf(text, "-%" G_GINT64_FORMAT, t->last);
    }
    g_string_append_len(text, t->tail->str, (gssize)t->tail->len);
    if (t->times > 1 && t->last == t->first) {
        g_string_append_printf(text, " x%u", t->times);
    }
    t->line.text = g_string_free(text, FALSE);
    g_queue_push_tail(&t->lines, g_memdup2(&t->line, sizeof t->line));
    t->times = 0;
}

void script_transcript_add(struct script_transcript *t, uint64_t time_ns, const struct script_statement *statement) {
    bool same = t->times != 0 && t->line.time_ns == time_ns && strcmp(t->head->str, statement->head) == 0 &&
                strcmp(t->tail->str, statement->tail) == 0;
    if (same && statement->number == (statement->number < 0 ? t->last : t->last + 1)) {
        t->last = statement->number;
        t->times++;
        return;
    }
    script_transcript_end_line(t);
    g_string_assign(t->head, statement->head);
    g_string_assign(t->tail, statement->tail);
    t->line = (struct script_line){.time_ns = time_ns, .side = statement->side, .packet = statement->packet};
    t->first = t->last = statement->number;
    t->times = 1;
}

/* SPDX-License-Identifier: MIT */
/* One table, whose column "by" says what a line is about. */
#include "tools/info/bandwidth_csv.h"

#include <inttypes.h>
#include <string.h>

#include "tools/info/bandwidth_rows.h"
#include "tools/print/phrase.h"

static const char columns[] = "stream,by,name,guid,channel,time_s,direction,bits,bytes,bunch_header_bits,bunches,"
                              "updates,open_s,opens,dormant,peak_bits,peak_second";

/* One line; NULL or negative members are empty fields. */
struct csv_line {
    uint32_t stream;
    const char *by, *name;
    const struct ue_bandwidth_row *row; /* NULL: not of a row */
    double time_s;
    unsigned side;
    uint64_t bits;
    const struct ue_bandwidth_counts *counts;
    bool has_times;
};

/* A text of the capture is no formula for a spreadsheet. */
static void add_text(struct text_buffer *out, const char *text) {
    text_buffer_add(out, strchr("=+-@\t\r", text[0]) != NULL && text[0] != '\0' ? "\"'" : "\"");
    for (; *text != '\0'; text++) {
        if (*text == '"') {
            text_buffer_add_char(out, '"');
        }
        text_buffer_add_char(out, (unsigned char)*text < ' ' ? ' ' : *text);
    }
    text_buffer_add_char(out, '"');
}

static void add_row_identity(struct text_buffer *out, const struct csv_line *line) {
    const struct ue_bandwidth_row *row = line->row;
    bool has_channel = row != NULL && !row->is_rest && strcmp(line->by, "class") != 0;
    text_buffer_add_char(out, ',');
    if (row != NULL && row->guid != 0) {
        text_buffer_add_unsigned(out, row->guid);
    }
    text_buffer_add_char(out, ',');
    if (has_channel) {
        text_buffer_add_unsigned(out, row->channel);
    }
}

static void add_counts(struct text_buffer *out, const struct csv_line *line) {
    const struct ue_bandwidth_counts *counts = line->counts;
    const struct ue_bandwidth_row *row = line->row;
    if (counts == NULL) {
        text_buffer_add(out, ",,,,,,,,\n");
        return;
    }
    text_buffer_add_format(out, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",", counts->header_bits[line->side],
                           counts->bunches[line->side], counts->updates[line->side]);
    if (row != NULL) {
        if (line->has_times) {
            text_buffer_add_format(out, "%.6f", (double)row->open_ns / 1e9);
        }
        text_buffer_add_format(out, ",%" PRIu64 ",%" PRIu64, row->opens, row->dormant);
    } else {
        text_buffer_add(out, ",,");
    }
    if (line->has_times && counts->peak_bits[line->side] != 0) {
        text_buffer_add_format(out, ",%" PRIu64 ",%" PRId64 "\n", counts->peak_bits[line->side],
                               counts->peak_second[line->side]);
    } else {
        text_buffer_add(out, ",,\n");
    }
}

static void add_line(struct text_buffer *out, const struct csv_line *line) {
    text_buffer_add_format(out, "%" PRIu32 ",%s,", line->stream, line->by);
    if (line->name != NULL) {
        add_text(out, line->name);
    }
    add_row_identity(out, line);
    text_buffer_add_char(out, ',');
    if (line->time_s >= 0) {
        text_buffer_add_format(out, "%.6f", line->time_s);
    }
    text_buffer_add_format(out, ",%s,%" PRIu64 ",%.3f", phrase_direction_key(line->side), line->bits,
                           (double)line->bits / 8);
    add_counts(out, line);
}

void info_bandwidth_print_csv_head(struct text_buffer *out) {
    text_buffer_add(out, columns);
    text_buffer_add_char(out, '\n');
}

static void print_rows(struct text_buffer *out, struct csv_line line, const struct ue_bandwidth *bandwidth,
                       enum ue_bandwidth_by by, const struct info_bandwidth_options *options) {
    static const char *const names[] = {"class", "actor", "channel"};
    size_t more;
    g_autoptr(GArray) rows = info_bandwidth_rows(bandwidth, by, options, options->rows_max, &more);
    line.by = names[by];
    for (guint i = 0; i < rows->len; i++) {
        line.row = &g_array_index(rows, struct ue_bandwidth_row, i);
        line.name = line.row->is_rest ? "others" : info_bandwidth_class_of(line.row);
        line.counts = &line.row->counts;
        for (line.side = 0; line.side < 2; line.side++) {
            line.bits = ue_bandwidth_bits(line.counts, line.side);
            add_line(out, &line);
        }
    }
}

static void print_kinds(struct text_buffer *out, struct csv_line line, const struct ue_bandwidth_totals *totals) {
    line.by = "kind";
    for (enum ue_bandwidth_kind kind = 0; kind < UE_BANDWIDTH_KIND_COUNT; kind++) {
        line.name = ue_bandwidth_kind_name(kind);
        for (line.side = 0; line.side < 2; line.side++) {
            line.bits = totals->counts.bits[kind][line.side];
            add_line(out, &line);
        }
    }
    line.by = "all";
    line.name = NULL;
    line.counts = &totals->counts;
    for (line.side = 0; line.side < 2; line.side++) {
        line.bits = ue_bandwidth_bits(&totals->counts, line.side);
        add_line(out, &line);
    }
}

static void print_series(struct text_buffer *out, struct csv_line line, const struct ue_bandwidth_series *series,
                         const struct ue_bandwidth_totals *totals) {
    size_t bins = info_bandwidth_bins(totals);
    for (size_t bin = 0; bin < bins && bin < series->count; bin++) {
        line.time_s = (double)bin * (double)totals->bin_ns / 1e9;
        for (line.side = 0; line.side < 2; line.side++) {
            line.bits = series->bits[bin][line.side];
            if (line.bits != 0) {
                add_line(out, &line);
            }
        }
    }
}

static void print_times(struct text_buffer *out, struct csv_line line, const struct ue_bandwidth *bandwidth,
                        const struct info_bandwidth_options *options) {
    const struct ue_bandwidth_totals *totals = ue_bandwidth_totals(bandwidth);
    size_t more;
    g_autoptr(GArray) rows = info_bandwidth_rows(bandwidth, UE_BANDWIDTH_BY_CLASS, options, options->rows_max, &more);
    line.by = "kind over time";
    for (enum ue_bandwidth_kind kind = 0; kind < UE_BANDWIDTH_KIND_COUNT; kind++) {
        line.name = ue_bandwidth_kind_name(kind);
        print_series(out, line, &totals->series[kind], totals);
    }
    line.by = "class over time";
    for (guint i = 0; i < rows->len; i++) {
        const struct ue_bandwidth_row *row = &g_array_index(rows, struct ue_bandwidth_row, i);
        line.name = row->is_rest ? "others" : row->name;
        print_series(out, line, &row->series, totals);
    }
}

void info_bandwidth_print_csv(struct text_buffer *out, uint32_t stream, const struct ue_bandwidth *bandwidth,
                              const struct info_bandwidth_options *options, bool has_times) {
    const struct csv_line line = {.stream = stream, .time_s = -1, .has_times = has_times};
    print_kinds(out, line, ue_bandwidth_totals(bandwidth));
    for (enum ue_bandwidth_by by = 0; by < UE_BANDWIDTH_BY_COUNT; by++) {
        print_rows(out, line, bandwidth, by, options);
    }
    if (has_times) {
        print_times(out, line, bandwidth, options);
    }
}

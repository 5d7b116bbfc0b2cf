/* SPDX-License-Identifier: MIT */
#include "tools/generate/game_sidecar.h"

#include <inttypes.h>
#include <jansson.h>

#include "tools/generate/generator.h"
#include "tools/print/phrase.h"
#include "tools/sim/game_classes.h"

/* An event, and its values in the log's texts. */
struct game_sidecar_entry {
    struct sim_game_event event;
    gsize values; /* JSON; 0: none */
};

struct game_sidecar {
    GArray *entries; /* struct game_sidecar_entry */
    GString *values; /* texts with their NULs; the first is empty */
};

struct game_sidecar *game_sidecar_new(void) {
    struct game_sidecar *log = g_new0(struct game_sidecar, 1);
    log->entries = g_array_new(FALSE, FALSE, sizeof(struct game_sidecar_entry));
    log->values = g_string_new(NULL);
    g_string_append_c(log->values, '\0');
    return log;
}

void game_sidecar_free(struct game_sidecar *log) {
    if (log != NULL) {
        g_array_unref(log->entries);
        g_string_free(log->values, TRUE);
        g_free(log);
    }
}

/* Bits as hexadecimal digits of whole bytes, the last padded with zeros. */
static void append_bits(GString *text, struct ue_view bits) {
    g_string_append_c(text, '"');
    for (size_t at = 0; at < bits.bits; at += 8) {
        size_t left = bits.bits - at;
        g_string_append_printf(text, "%02x", (unsigned)ue_view_load(bits, at, left < 8 ? (unsigned)left : 8));
    }
    g_string_append_c(text, '"');
}

static void append_values(GString *text, const struct sim_game_event *event) {
    const char *comma = "";
    g_string_append_c(text, '[');
    for (uint32_t handle = 1; handle <= 64; handle++) {
        if ((event->handles >> (handle - 1) & 1) != 0) {
            struct ue_view value = event->value(event->object, handle);
            g_string_append_printf(text, "%s[%" PRIu32 ",%zu,", comma, handle, value.bits);
            append_bits(text, value);
            g_string_append_c(text, ']');
            comma = ",";
        }
    }
    g_string_append_c(text, ']');
}

void game_sidecar_add(struct game_sidecar *log, const struct sim_game_event *event) {
    struct game_sidecar_entry entry = {.event = *event, .values = log->values->len};
    bool has_values = event->kind == SIM_GAME_VALUES || event->kind == SIM_GAME_FINAL;
    if (has_values) {
        append_values(log->values, event);
    } else if (event->function != NULL) {
        append_bits(log->values, event->bits);
    }
    g_string_append_c(log->values, '\0');
    g_array_append_val(log->entries, entry);
}

/* ---- classes ---- */

static json_t *properties_of(const struct ue_class_property *properties, uint32_t count) {
    json_t *array = json_array();
    for (uint32_t i = 0; i < count; i++) {
        json_array_append_new(array, json_pack("[s, s]", properties[i].name, ue_value_type_name(properties[i].type)));
    }
    return array;
}

static json_t *functions_of(const struct ue_context *context, const struct ue_class *layout) {
    json_t *array = json_array();
    for (uint32_t i = 0; i < layout->function_count; i++) {
        const struct ue_class_function *f = &layout->functions[i];
        json_t *object = json_pack("{s:s, s:I, s:b, s:s, s:o}", "name", f->name, "index",
                                   (json_int_t)ue_class_field_index(context, layout, f), "reliable",
                                   (f->flags & UE_FUNCTION_RELIABLE) != 0, "runs_at",
                                   (f->flags & UE_FUNCTION_SERVER) != 0   ? "server"
                                   : (f->flags & UE_FUNCTION_CLIENT) != 0 ? "client"
                                                                          : "all",
                                   "parameters", properties_of(f->parameters, f->parameter_count));
        json_array_append_new(array, object);
    }
    return array;
}

void game_sidecar_write_classes(FILE *file, const struct ue_context *context) {
    for (enum game_class id = 0; id < GAME_CLASS_COUNT; id++) {
        const struct ue_class *layout = game_class(id);
        json_t *object = json_pack(
            "{s:s, s:o, s:b, s:I, s:o, s:o}", "path", layout->path, "parent",
            layout->parent != NULL ? json_string(layout->parent->path) : json_null(), "is_player_controller",
            layout->is_player_controller, "fields", (json_int_t)ue_class_field_count(layout), "properties",
            properties_of(layout->properties, layout->property_count), "functions", functions_of(context, layout));
        fputs(id != 0 ? ",\n" : "\n", file);
        json_dumpf(object, file, JSON_COMPACT);
        json_decref(object);
    }
}

/* ---- events ---- */

static void write_details(FILE *file, const struct sim_game_event *event, const char *values) {
    switch (event->kind) {
    case SIM_GAME_ACTOR: fprintf(file, ",\"channel\":%" PRIu32, event->channel); break;
    case SIM_GAME_GONE: fprintf(file, ",\"close_reason\":%u", event->reason); break;
    case SIM_GAME_DELETED: break;
    case SIM_GAME_VALUES:
        fprintf(file, ",\"channel\":%" PRIu32 ",\"packets\":[%" PRId64 ",%" PRId64 "],\"values\":%s", event->channel,
                event->packets.first, event->packets.last, values);
        break;
    case SIM_GAME_CALL:
    case SIM_GAME_RECEIVED:
        fprintf(file,
                ",\"from\":\"%s\",\"channel\":%" PRIu32 ",\"function\":\"%s\",\"reliable\":%s,\"bits\":%zu,"
                "\"parameters\":%s",
                phrase_side(event->from), event->channel, event->function->name,
                (event->function->flags & UE_FUNCTION_RELIABLE) != 0 ? "true" : "false", event->bits.bits, values);
        break;
    case SIM_GAME_FINAL: fprintf(file, ",\"values\":%s", values); break;
    }
}

void game_sidecar_write(FILE *file, bool *more, const struct game_sidecar *log, uint32_t stream, uint64_t offset_ns) {
    static const char *const kinds[] = {
        [SIM_GAME_ACTOR] = "actor",   [SIM_GAME_GONE] = "gone", [SIM_GAME_DELETED] = "deleted",
        [SIM_GAME_VALUES] = "values", [SIM_GAME_CALL] = "call", [SIM_GAME_RECEIVED] = "received",
        [SIM_GAME_FINAL] = "final"};
    for (guint i = 0; i < log->entries->len; i++) {
        const struct game_sidecar_entry *entry = &g_array_index(log->entries, struct game_sidecar_entry, i);
        const struct sim_game_event *event = &entry->event;
        fprintf(file, "%s{\"stream\":%" PRIu32 ",\"event\":\"%s\",\"time\":\"%" PRId64 "\",\"guid\":%" PRIu64,
                *more ? ",\n" : "\n", stream, kinds[event->kind],
                GENERATE_EPOCH_NS + (int64_t)(event->now_ns + offset_ns), event->guid);
        if (event->actor != 0 && event->actor != event->guid) {
            fprintf(file, ",\"actor\":%" PRIu64, event->actor);
        }
        fprintf(file, ",\"class\":\"%s\"", event->layout->path);
        write_details(file, event, log->values->str + entry->values);
        fputs("}", file);
        *more = true;
    }
}

/* SPDX-License-Identifier: MIT */
#include "tools/impair/proxy_report.h"

#include "tools/live/endpoint_report.h"
#include <uerudp/time_ns.h>

/* The counters with their words, in the order of display. */
static const struct column {
    const char *key, *words;
    size_t offset;
} columns[] = {
#define COLUMN(member, words) {#member, words, offsetof(struct impair_counters, member)}
    COLUMN(datagrams, NULL),     COLUMN(bytes, NULL),
    COLUMN(delivered, NULL),     COLUMN(delivered_bytes, NULL),
    COLUMN(lost, "lost"),        COLUMN(overflowed, "too many for a queue"),
    COLUMN(dropped, "dropped"),  COLUMN(corrupted, "corrupted"),
    COLUMN(duplicated, "twice"), COLUMN(reordered, "reordered"),
    COLUMN(refused, "refused"),
#undef COLUMN
};

static uint64_t *counter(struct impair_counters *counters, const struct column *column) {
    return (uint64_t *)(void *)((uint8_t *)counters + column->offset);
}

void impair_totals_add(struct impair_totals *totals, const struct impair_client *client) {
    totals->unconfirmed += !client->is_confirmed;
    for (size_t direction = 0; direction < 2; direction++) {
        struct impair_counters counters = *impair_direction_counters(client->directions[direction]);
        for (size_t i = 0; i < G_N_ELEMENTS(columns); i++) {
            *counter(&totals->directions[direction], &columns[i]) += *counter(&counters, &columns[i]);
        }
    }
}

static json_t *as_object(struct impair_counters *counters) {
    json_t *object = json_object();
    for (size_t i = 0; i < G_N_ELEMENTS(columns); i++) {
        json_object_set_new(object, columns[i].key, json_integer((json_int_t)*counter(counters, &columns[i])));
    }
    return object;
}

/* "95 of 100 datagrams (5 lost, 2 reordered)" */
static json_t *as_text(struct impair_counters *counters) {
    g_autoptr(GString) text = g_string_new(NULL);
    const char *separator = " (";
    g_string_printf(text, "%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT " datagrams", counters->delivered,
                    counters->datagrams);
    for (size_t i = 0; i < G_N_ELEMENTS(columns); i++) {
        uint64_t value = *counter(counters, &columns[i]);
        if (columns[i].words != NULL && value != 0) {
            g_string_append_printf(text, "%s%" G_GUINT64_FORMAT " %s", separator, value, columns[i].words);
            separator = ", ";
        }
    }
    g_string_append(text, *separator == ',' ? ")" : "");
    return json_string(text->str);
}

static void set_counters(json_t *members, bool as_json, const char *key, struct impair_counters counters) {
    json_object_set_new(members, key, as_json ? as_object(&counters) : as_text(&counters));
}

static json_t *addresses_of(const struct impair_client *client) {
    char near[NET_ADDRESS_TEXT_BYTES];
    char far[NET_ADDRESS_TEXT_BYTES];
    return json_pack("{s:s, s:s}", "client", net_address_format(&client->endpoints[0].peer, near), "via",
                     net_address_format(&client->endpoints[1].local, far));
}

void impair_report_connected(bool as_json, const struct impair_client *client) {
    live_report(as_json, "connected", addresses_of(client));
}

void impair_report_unreported(bool as_json, uint64_t clients) {
    live_report(as_json, "unreported", json_pack("{s:I}", "clients", (json_int_t)clients));
}

void impair_report_left(bool as_json, const struct impair_client *client, const char *reason, uint64_t now_ns) {
    json_t *members = addresses_of(client);
    char text[UE_RANGE_CHARS];
    const char *generation = impair_client_generation(client, text);
    json_object_set_new(members, "reason", json_string(reason));
    json_object_set_new(members, "seconds", json_real((double)(now_ns - client->begun_ns) / UE_NS_PER_S));
    if (generation != NULL) {
        json_object_set_new(members, "generation", json_string(generation));
    }
    set_counters(members, as_json, "up", *impair_direction_counters(client->directions[0]));
    set_counters(members, as_json, "down", *impair_direction_counters(client->directions[1]));
    live_report(as_json, "left", members);
}

void impair_report_progress(const struct impair_totals *totals, uint64_t clients, uint64_t seconds) {
    json_t *members = json_pack("{s:I, s:I}", "seconds", (json_int_t)seconds, "clients", (json_int_t)clients);
    set_counters(members, false, "up", totals->directions[0]);
    set_counters(members, false, "down", totals->directions[1]);
    live_report_progress("linking", members);
}

static void report_rule(bool as_json, const struct rules *rules, size_t index) {
    live_report(
        as_json, "rule",
        json_pack("{s:s, s:I}", "text", rules_text(rules, index), "acted", (json_int_t)rules_acted(rules, index)));
}

void impair_report_summary(const struct impair_options *options, const struct impair_totals *totals) {
    for (size_t i = 0; i < rules_count(options->rules); i++) {
        report_rule(options->json, options->rules, i);
    }
    json_t *members = json_pack("{s:I, s:I, s:I}", "clients", (json_int_t)totals->clients, "unconfirmed",
                                (json_int_t)totals->unconfirmed, "refused", (json_int_t)totals->refused);
    g_autofree char *seed =
        g_strdup_printf("%" G_GUINT64_FORMAT, options->seed); /* more digits than JSON numbers keep exactly */
    json_object_set_new(members, "seed", json_string(seed));
    set_counters(members, options->json, "up", totals->directions[0]);
    set_counters(members, options->json, "down", totals->directions[1]);
    live_report(options->json, "linked", members);
}

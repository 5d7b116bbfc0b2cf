/* SPDX-License-Identifier: MIT */
/* Whom the bunches of a connection belong to: the events of the observer name the actor of each channel, and the bits
   of the datagram are counted after its events. */
#include "libcodec/observe/bandwidth_rows.h"

#include <string.h>

#include <uerudp/actor_class.h>
#include <uerudp/text.h>
#include <uerudp/time_ns.h>

#include "libcodec/base/list.h"

/* Items of a datagram; the bunches of further ones, which no engine sends, count as sent for the first time. */
#define ITEMS_MAX 4096u
/* Bunches of a channel that wait for the class of its actor. */
#define WAITING_MAX 256u
#define CAPACITY_MIN 16u
#define SMOOTHING 8
#define DORMANCY 1 /* a close reason */

/* The actor, or other user, of a channel. */
struct owner {
    struct ue_bandwidth_entry *actor; /* NULL: waits for its class */
    struct ue_bandwidth_entry *class_entry;
};

/* A channel index. */
struct channel {
    struct ue_hash_link link;
    struct ue_list_link in_list;
    uint32_t index;
    bool is_used; /* there was a bunch */
    bool is_open;
    bool is_to_count;   /* its open, when the owner is known */
    int64_t opened_ns;  /* or when its first bunch was captured */
    struct owner owner; /* since the latest open */
    struct owner next;  /* of the bunch that follows, which opens the channel */
    struct ue_bandwidth_entry *entry;
    bool was_updated[2];
    int64_t updated_ns[2];              /* the latest update */
    int64_t interval_ns[2];             /* between updates, smoothed; 0: not known */
    struct ue_bandwidth_share *waiting; /* for the owner */
    size_t waiting_count, waiting_capacity;
};

/* A bunch of the datagram whose events are reported. */
struct item {
    struct channel *channel; /* NULL: there was no event */
    struct owner owner;      /* without actor: that of the channel after all events */
    struct ue_bandwidth_bunch known;
};

struct ue_bandwidth {
    struct ue_bandwidth_rows rows;
    struct ue_hash_table by_index;
    struct ue_list channels;
    struct channel rest; /* if there is no memory for another channel */
    struct item *items;
    size_t item_count, item_capacity;
    bool is_duplicate; /* the datagram */
    struct ue_saturation_span saturation[2];
};

struct ue_bandwidth *ue_bandwidth_new(const struct ue_allocator *allocator, int64_t bin_ns) {
    struct ue_bandwidth *bandwidth = allocator->resize(allocator->user, NULL, sizeof *bandwidth);
    if (bandwidth == NULL) {
        return NULL;
    }
    memset(bandwidth, 0, sizeof *bandwidth);
    ue_bandwidth_rows_init(&bandwidth->rows, allocator, bin_ns);
    ue_hash_table_init(&bandwidth->by_index, allocator, 1);
    struct ue_bandwidth_table *tables = bandwidth->rows.tables;
    bandwidth->rest.owner = (struct owner){&tables[UE_BANDWIDTH_BY_ACTOR].rest, &tables[UE_BANDWIDTH_BY_CLASS].rest};
    bandwidth->rest.entry = &tables[UE_BANDWIDTH_BY_CHANNEL].rest;
    bandwidth->rest.is_used = true;
    return bandwidth;
}

static void *resize(struct ue_bandwidth *bandwidth, void *old, size_t old_bytes, size_t new_bytes) {
    return ue_limited_allocator_resize(&bandwidth->rows.memory, old, old_bytes, new_bytes);
}

static void free_waiting(struct ue_bandwidth *bandwidth, struct channel *channel) {
    if (channel->waiting != NULL) {
        resize(bandwidth, channel->waiting, channel->waiting_capacity * sizeof *channel->waiting, 0);
    }
    channel->waiting = NULL;
    channel->waiting_count = channel->waiting_capacity = 0;
}

void ue_bandwidth_free(struct ue_bandwidth *bandwidth) {
    if (bandwidth == NULL) {
        return;
    }
    for (struct channel *channel; (channel = ue_list_first(&bandwidth->channels)) != NULL;) {
        ue_list_remove(&bandwidth->channels, &channel->in_list);
        free_waiting(bandwidth, channel);
        resize(bandwidth, channel, sizeof *channel, 0);
    }
    ue_hash_table_clear(&bandwidth->by_index);
    if (bandwidth->items != NULL) {
        resize(bandwidth, bandwidth->items, bandwidth->item_capacity * sizeof *bandwidth->items, 0);
    }
    ue_bandwidth_rows_clear(&bandwidth->rows);
    const struct ue_allocator allocator = bandwidth->rows.memory.allocator;
    allocator.resize(allocator.user, bandwidth, 0);
}

/* ---- channels ---- */

static struct channel *new_channel(struct ue_bandwidth *bandwidth, uint32_t index, uint64_t hash) {
    struct channel *channel = resize(bandwidth, NULL, 0, sizeof *channel);
    if (channel == NULL) {
        return &bandwidth->rest;
    }
    *channel = (struct channel){.index = index};
    if (!ue_hash_table_insert(&bandwidth->by_index, &channel->link, hash, channel)) {
        resize(bandwidth, channel, sizeof *channel, 0);
        return &bandwidth->rest;
    }
    ue_list_push(&bandwidth->channels, &channel->in_list, channel);
    const struct ue_bandwidth_key key = {.number = index};
    channel->entry = ue_bandwidth_rows_find(&bandwidth->rows, UE_BANDWIDTH_BY_CHANNEL, &key);
    return channel;
}

static struct channel *find_channel(struct ue_bandwidth *bandwidth, uint32_t index) {
    uint64_t hash = ue_hash_table_hash(&bandwidth->by_index, &index, sizeof index);
    const struct ue_hash_link *link = ue_hash_table_find(&bandwidth->by_index, hash);
    while (link != NULL && ((struct channel *)link->element)->index != index) {
        link = ue_hash_table_find_next(link);
    }
    return link != NULL ? link->element : new_channel(bandwidth, index, hash);
}

/* ---- owners ---- */

static void add_to_owner(struct ue_bandwidth *bandwidth, const struct owner *owner,
                         const struct ue_bandwidth_share *share) {
    ue_bandwidth_rows_add(&bandwidth->rows, owner->actor, share);
    ue_bandwidth_rows_add_class(&bandwidth->rows, owner->class_entry, share);
}

static void count_open(struct channel *channel) {
    if (channel->is_to_count) {
        channel->owner.actor->row.opens++;
        channel->owner.class_entry->row.opens++;
        channel->entry->row.opens++;
        channel->is_to_count = false;
    }
}

/* The class of the rest is unknown, because its rows have several. */
static void name_row(struct ue_bandwidth_entry *entry, const struct channel *channel) {
    if (!entry->row.is_rest) {
        entry->row.class_row = &channel->owner.class_entry->row;
        entry->row.channel = channel->index;
    }
}

static void set_owner(struct ue_bandwidth *bandwidth, struct channel *channel, struct owner owner) {
    channel->owner = owner;
    name_row(owner.actor, channel);
    name_row(channel->entry, channel);
    channel->entry->row.is_actor = owner.class_entry->row.is_actor;
    for (size_t i = 0; i < channel->waiting_count; i++) {
        add_to_owner(bandwidth, &owner, &channel->waiting[i]);
    }
    free_waiting(bandwidth, channel);
    count_open(channel);
}

/* name: of channels that are no actor channels; NULL: not known. */
static struct owner owner_without_guid(struct ue_bandwidth *bandwidth, const struct channel *channel, bool is_actor,
                                       const char *name) {
    const struct ue_bandwidth_key actor = {.number = channel->index, .is_actor = is_actor};
    const struct ue_bandwidth_key class_key = {.name = name, .is_actor = is_actor};
    return (struct owner){ue_bandwidth_rows_find(&bandwidth->rows, UE_BANDWIDTH_BY_ACTOR, &actor),
                          ue_bandwidth_rows_find(&bandwidth->rows, UE_BANDWIDTH_BY_CLASS, &class_key)};
}

static void stop_waiting(struct ue_bandwidth *bandwidth, struct channel *channel) {
    if (channel->is_used && channel->owner.actor == NULL) {
        set_owner(bandwidth, channel, owner_without_guid(bandwidth, channel, true, NULL));
    }
}

static struct owner owner_by_name(struct ue_bandwidth *bandwidth, const struct channel *channel,
                                  const struct ue_bunch *bunch, enum ue_content_kind kind) {
    char text[UE_GUID_MAP_PATH_MAX + 1];
    const char *name = ue_content_kind_name(kind);
    if (kind == UE_CONTENT_UNKNOWN && bunch->has_name && !bunch->name.hardcoded &&
        ue_text_to_utf8(bunch->name.text, text, sizeof text) != 0) {
        name = text;
    }
    return owner_without_guid(bandwidth, channel, kind == UE_CONTENT_ACTOR, kind == UE_CONTENT_ACTOR ? NULL : name);
}

/* ---- events ---- */

/* A MESSAGE that opens an actor channel. */
static void on_message(struct ue_bandwidth *bandwidth, struct ue_observer *observer,
                       const struct ue_observed_datagram *datagram, const struct ue_observed_event *event) {
    struct ue_actor_guids guids;
    if (!ue_actor_class_find(&datagram->context, &event->message.content, &guids)) {
        return;
    }
    struct ue_guid_names names = ue_observer_names(observer, datagram->record.connection, event->frame);
    const char *path = names.path(names.user, guids.archetype != 0 ? guids.archetype : guids.guid);
    char class_path[UE_GUID_MAP_PATH_MAX + 1];
    if (path != NULL) {
        ue_actor_class_path(path, class_path, sizeof class_path);
    }
    const struct ue_bandwidth_key actor = {.number = guids.guid, .is_actor = true, .has_guid = true};
    const struct ue_bandwidth_key class_key = {.name = path != NULL ? class_path : NULL, .is_actor = true};
    const struct owner owner = {ue_bandwidth_rows_find(&bandwidth->rows, UE_BANDWIDTH_BY_ACTOR, &actor),
                                ue_bandwidth_rows_find(&bandwidth->rows, UE_BANDWIDTH_BY_CLASS, &class_key)};
    struct channel *channel = find_channel(bandwidth, event->message.channel);
    if (!event->message.is_joined) {
        channel->next = owner; /* the bunch is the next event */
    } else if (channel->is_used && channel->owner.actor == NULL) {
        set_owner(bandwidth, channel, owner);
    }
}

/* Bunches of this datagram that precede the open belong to the owner before it. */
static void fix_items(struct ue_bandwidth *bandwidth, const struct channel *channel) {
    for (size_t i = 0; i < bandwidth->item_count; i++) {
        struct item *item = &bandwidth->items[i];
        item->owner = item->channel == channel && item->owner.actor == NULL ? channel->owner : item->owner;
    }
}

static void begin_use(struct ue_bandwidth *bandwidth, struct channel *channel, const struct ue_bunch *bunch,
                      enum ue_content_kind kind, int64_t time_ns) {
    stop_waiting(bandwidth, channel);
    fix_items(bandwidth, channel);
    struct owner next = channel->next;
    bool may_wait = kind == UE_CONTENT_ACTOR && bunch->open && bunch->partial;
    channel->is_used = channel->is_open = true;
    channel->is_to_count = bunch->open;
    channel->opened_ns = time_ns;
    channel->next = channel->owner = (struct owner){NULL, NULL};
    if (next.actor != NULL || !may_wait) {
        set_owner(bandwidth, channel, next.actor != NULL ? next : owner_by_name(bandwidth, channel, bunch, kind));
    }
}

/* Returns NULL if there is no memory. */
static struct item *add_item(struct ue_bandwidth *bandwidth, uint32_t index) {
    if (index >= ITEMS_MAX) {
        return NULL;
    }
    if (index >= bandwidth->item_capacity) {
        size_t capacity = index + 1 > CAPACITY_MIN ? 2 * ((size_t)index + 1) : CAPACITY_MIN;
        void *items = resize(bandwidth, bandwidth->items, bandwidth->item_capacity * sizeof *bandwidth->items,
                             capacity * sizeof *bandwidth->items);
        if (items == NULL) {
            return NULL;
        }
        bandwidth->items = items;
        bandwidth->item_capacity = capacity;
    }
    for (; bandwidth->item_count <= index; bandwidth->item_count++) {
        bandwidth->items[bandwidth->item_count] = (struct item){.channel = NULL};
    }
    return &bandwidth->items[index];
}

static void on_bunch(struct ue_bandwidth *bandwidth, const struct ue_observed_datagram *datagram,
                     const struct ue_observed_event *event) {
    const struct ue_bunch *bunch = event->bunch.decoded;
    struct channel *channel = find_channel(bandwidth, bunch->channel);
    bool is_guessed;
    enum ue_content_kind kind = ue_observer_channel_kind(datagram->record.connection, bunch->channel, &is_guessed);
    bool opens = bunch->open && event->bunch.copy <= 1;
    if (channel != &bandwidth->rest && (opens || !channel->is_used)) {
        begin_use(bandwidth, channel, bunch, kind, event->time_ns);
    }
    struct item *item = add_item(bandwidth, event->bunch.item);
    if (item != NULL) {
        *item = (struct item){
            channel,
            channel->owner,
            {.channel = kind, .is_opening = event->bunch.is_opening, .is_retransmission = event->bunch.copy > 1}};
    }
}

static void end_use(struct ue_bandwidth *bandwidth, struct channel *channel, int64_t time_ns, bool is_dormant) {
    stop_waiting(bandwidth, channel);
    if (!channel->is_open) {
        return;
    }
    struct ue_bandwidth_row *rows[] = {&channel->owner.actor->row, &channel->owner.class_entry->row,
                                       &channel->entry->row};
    int64_t open_ns = ue_time_ns_since(time_ns, channel->opened_ns);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        rows[i]->open_ns = ue_time_ns_add(rows[i]->open_ns, open_ns > 0 ? open_ns : 0);
        rows[i]->dormant += is_dormant;
    }
    channel->is_open = false;
}

static void on_closed(struct ue_bandwidth *bandwidth, const struct ue_observed_event *event) {
    struct channel *channel = find_channel(bandwidth, event->channel.bunch->channel);
    if (channel != &bandwidth->rest && channel->is_used) {
        bool is_dormant = event->channel.close_reason == DORMANCY || event->channel.bunch->dormant;
        end_use(bandwidth, channel, event->time_ns, is_dormant);
    }
}

void ue_bandwidth_on_event(struct ue_bandwidth *bandwidth, struct ue_observer *observer,
                           const struct ue_observed_datagram *datagram, const struct ue_observed_event *event) {
    switch (event->type) {
    case UE_OBSERVED_PACKET: bandwidth->is_duplicate = event->packet.is_duplicate; break;
    case UE_OBSERVED_MESSAGE: on_message(bandwidth, observer, datagram, event); break;
    case UE_OBSERVED_BUNCH: on_bunch(bandwidth, datagram, event); break;
    case UE_OBSERVED_CHANNEL_CLOSED: on_closed(bandwidth, event); break;
    default: break;
    }
}

/* ---- bits ---- */

/* A datagram that is counted. */
struct counting {
    struct ue_bandwidth *bandwidth;
    const struct ue_observed_datagram *datagram;
};

static struct item item_of(const struct counting *counting, uint32_t index, const struct ue_bunch *bunch) {
    struct ue_bandwidth *bandwidth = counting->bandwidth;
    if (index < bandwidth->item_count && bandwidth->items[index].channel != NULL) {
        return bandwidth->items[index];
    }
    bool is_guessed;
    enum ue_content_kind kind =
        ue_observer_channel_kind(counting->datagram->record.connection, bunch->channel, &is_guessed);
    struct channel *channel = find_channel(bandwidth, bunch->channel);
    if (!channel->is_used) {
        begin_use(bandwidth, channel, bunch, kind, counting->datagram->time_ns);
    }
    return (struct item){channel, channel->owner, {.channel = kind, .is_duplicate = bandwidth->is_duplicate}};
}

/* Returns false if there is no memory. */
static bool wait(struct ue_bandwidth *bandwidth, struct channel *channel, const struct ue_bandwidth_share *share) {
    size_t size = sizeof *share;
    if (channel->waiting_count == WAITING_MAX) {
        return false;
    }
    if (channel->waiting_count == channel->waiting_capacity) {
        size_t capacity = channel->waiting_capacity != 0 ? 2 * channel->waiting_capacity : CAPACITY_MIN;
        void *waiting = resize(bandwidth, channel->waiting, channel->waiting_capacity * size, capacity * size);
        if (waiting == NULL) {
            return false;
        }
        channel->waiting = waiting;
        channel->waiting_capacity = capacity;
    }
    channel->waiting[channel->waiting_count++] = *share;
    return true;
}

/* Whether a channel waited until now, because its side was saturated. */
static void update(struct ue_bandwidth *bandwidth, struct channel *channel, unsigned side, int64_t time_ns) {
    const struct ue_saturation_span *span = &bandwidth->saturation[side];
    struct ue_bandwidth_row *row = &channel->entry->row;
    int64_t since_ns = ue_time_ns_since(time_ns, channel->updated_ns[side]);
    int64_t interval_ns = channel->interval_ns[side];
    bool is_within = channel->was_updated[side] && span->frame != 0 && channel->updated_ns[side] <= span->begin_ns &&
                     ue_time_ns_since(time_ns, span->begin_ns) >= span->length_ns;
    if (is_within && interval_ns != 0 && span->length_ns > interval_ns) {
        row->waits[side]++;
        row->longest_wait_ns[side] = since_ns > row->longest_wait_ns[side] ? since_ns : row->longest_wait_ns[side];
    } else if (channel->was_updated[side] && since_ns > 0) {
        channel->interval_ns[side] = interval_ns != 0 ? interval_ns + (since_ns - interval_ns) / SMOOTHING : since_ns;
    }
    channel->was_updated[side] = true;
    channel->updated_ns[side] = time_ns;
}

static void count_bunch(void *user, uint32_t index, const struct ue_bunch *bunch, uint64_t bits, uint64_t header_bits) {
    const struct counting *counting = user;
    struct ue_bandwidth *bandwidth = counting->bandwidth;
    const struct item item = item_of(counting, index, bunch);
    bool is_first = !item.known.is_retransmission && !item.known.is_duplicate;
    const struct ue_bandwidth_share share = {.time_ns = counting->datagram->time_ns,
                                             .bits = bits,
                                             .header_bits = header_bits,
                                             .kind = ue_bandwidth_kind_of(bunch, &item.known),
                                             .side = (uint8_t)counting->datagram->role,
                                             .is_bunch = true,
                                             .is_update = is_first && (!bunch->partial || bunch->partial_initial)};
    struct owner owner = item.owner.actor != NULL ? item.owner : item.channel->owner;
    ue_bandwidth_rows_add_total(&bandwidth->rows, &share);
    ue_bandwidth_rows_add(&bandwidth->rows, item.channel->entry, &share);
    if (share.is_update && item.channel != &bandwidth->rest) {
        update(bandwidth, item.channel, share.side, share.time_ns);
    }
    if (owner.actor == NULL && !wait(bandwidth, item.channel, &share)) {
        stop_waiting(bandwidth, item.channel);
        owner = item.channel->owner;
    }
    if (owner.actor != NULL) {
        add_to_owner(bandwidth, &owner, &share);
    }
}

static void count_rest(void *user, enum ue_bandwidth_kind kind, uint64_t bits) {
    const struct counting *counting = user;
    const struct ue_bandwidth_share share = {
        .time_ns = counting->datagram->time_ns, .bits = bits, .kind = kind, .side = (uint8_t)counting->datagram->role};
    ue_bandwidth_rows_add_total(&counting->bandwidth->rows, &share);
}

void ue_bandwidth_set_saturation(struct ue_bandwidth *bandwidth, unsigned side,
                                 const struct ue_saturation_span *latest) {
    bandwidth->saturation[side] = *latest;
}

void ue_bandwidth_on_datagram(struct ue_bandwidth *bandwidth, const struct ue_observed_datagram *datagram) {
    struct ue_bandwidth_totals *totals = &bandwidth->rows.totals;
    struct counting counting = {bandwidth, datagram};
    const struct ue_bandwidth_parts parts = {count_bunch, count_rest, &counting};
    const struct ue_bandwidth_datagram split = {&datagram->context, datagram->bytes, datagram->size_bytes,
                                                datagram->captured_bytes, datagram->length_bytes};
    bool is_first = totals->datagrams[0] + totals->datagrams[1] == 0;
    totals->first_ns = is_first ? datagram->time_ns : totals->first_ns;
    totals->last_ns = datagram->time_ns;
    totals->datagrams[datagram->role]++;
    totals->ip_udp_bits[datagram->role] += 8u * ue_observed_header_bytes(datagram->record.connection);
    ue_bandwidth_split(&split, &parts);
    bandwidth->item_count = 0;
    bandwidth->is_duplicate = false;
}

/* ---- results ---- */

void ue_bandwidth_finish(struct ue_bandwidth *bandwidth) {
    for (struct ue_list_link *link = bandwidth->channels.first; link != NULL; link = link->next) {
        end_use(bandwidth, link->element, bandwidth->rows.totals.last_ns, false);
    }
}

const struct ue_bandwidth_totals *ue_bandwidth_totals(const struct ue_bandwidth *bandwidth) {
    return &bandwidth->rows.totals;
}

static bool has_rest(const struct ue_bandwidth_table *table) {
    return table->rest.row.counts.bunches[0] + table->rest.row.counts.bunches[1] != 0;
}

size_t ue_bandwidth_row_count(const struct ue_bandwidth *bandwidth, enum ue_bandwidth_by by) {
    const struct ue_bandwidth_table *table = &bandwidth->rows.tables[by];
    return table->count + has_rest(table);
}

const struct ue_bandwidth_row *ue_bandwidth_row_at(const struct ue_bandwidth *bandwidth, enum ue_bandwidth_by by,
                                                   size_t place) {
    const struct ue_bandwidth_table *table = &bandwidth->rows.tables[by];
    return place < table->count ? &table->entries[place]->row : &table->rest.row;
}

uint64_t ue_bandwidth_bits(const struct ue_bandwidth_counts *counts, unsigned side) {
    uint64_t bits = 0;
    for (enum ue_bandwidth_kind kind = 0; kind < UE_BANDWIDTH_KIND_COUNT; kind++) {
        bits += counts->bits[kind][side];
    }
    return bits;
}

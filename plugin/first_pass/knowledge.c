/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/first_pass/knowledge.h"

#include <epan/packet.h>

#include "plugin/first_pass/file_allocator.h"
#include "plugin/tree/label_text.h"

/* A channel was opened for this actor. */
struct opened {
    uint64_t frame;
    struct ue_actor_guids opening;
};

struct news {
    uint32_t channel;
    struct opened opened;
};

/* Openings are only appended to the news; what they bring is sorted by channels when somebody asks. */
struct uerudp_knowledge_spawns {
    wmem_map_t *channels;
    wmem_array_t *news; /* of struct news; NULL: none */
};

static size_t bytes_in_use;
static size_t opening_count;

static void forget(void) {
    bytes_in_use = 0;
    opening_count = 0;
}

void uerudp_knowledge_register(void) {
    register_init_routine(forget);
}

/* ---- learning ---- */

static void learn_paths(struct uerudp_knowledge *knowledge, const struct ue_context *context,
                        const struct ue_content *content, uint64_t frame) {
    bool may_tell = content->has_exports || content->kind == UE_CONTENT_CONTROL;
    if (!may_tell || bytes_in_use > UERUDP_KNOWLEDGE_BYTES_MAX) {
        return;
    }
    size_t before = knowledge->map != NULL ? ue_guid_map_bytes(knowledge->map) : 0;
    if (knowledge->map == NULL) {
        knowledge->map = ue_guid_map_new(&uerudp_file_allocator);
    }
    ue_guid_map_learn(knowledge->map, context, content, frame);
    bytes_in_use += ue_guid_map_bytes(knowledge->map) - before;
}

static struct uerudp_knowledge_spawns *need_openings(struct uerudp_knowledge *knowledge) {
    if (knowledge->openings == NULL) {
        knowledge->openings = wmem_new0(wmem_file_scope(), struct uerudp_knowledge_spawns);
    }
    return knowledge->openings;
}

static void add_opened(struct uerudp_knowledge *knowledge, uint32_t channel, const struct opened *opened) {
    if (opening_count == UERUDP_KNOWLEDGE_SPAWNS_MAX) {
        return;
    }
    opening_count++;
    struct uerudp_knowledge_spawns *openings = need_openings(knowledge);
    const struct news news = {channel, *opened};
    if (openings->news == NULL) {
        openings->news = wmem_array_new(wmem_file_scope(), sizeof news);
    }
    wmem_array_append_one(openings->news, news);
}

static void learn_talk(struct uerudp_knowledge *knowledge, const struct ue_content *content, uint32_t channel) {
    if (content->data.bits != 0 && !content->is_custom_exports && bytes_in_use <= UERUDP_KNOWLEDGE_BYTES_MAX) {
        bytes_in_use += uerudp_channel_set_add(&knowledge->talked, &uerudp_file_allocator, channel);
    }
}

void uerudp_knowledge_add_message(struct uerudp_knowledge *knowledge, const struct ue_context *context,
                        const struct ue_reassembly_event *event) {
    struct opened opened = {.frame = event->frame};
    learn_paths(knowledge, context, &event->content, opened.frame);
    learn_talk(knowledge, &event->content, event->channel);
    if (ue_actor_class_find(context, &event->content, &opened.opening)) {
        add_opened(knowledge, event->channel, &opened);
    }
}

/* ---- asking ---- */

static void sort_in(struct uerudp_knowledge_spawns *openings, const struct news *news) {
    void *key = GUINT_TO_POINTER(news->channel);
    wmem_array_t *of_channel = wmem_map_lookup(openings->channels, key);
    if (of_channel == NULL) {
        of_channel = wmem_array_sized_new(wmem_file_scope(), sizeof news->opened, 1);
        wmem_map_insert(openings->channels, key, of_channel);
    }
    wmem_array_append_one(of_channel, news->opened);
}

static void sort_news_in(struct uerudp_knowledge_spawns *openings) {
    if (openings->news == NULL) {
        return;
    }
    for (unsigned i = 0; i < wmem_array_get_count(openings->news); i++) {
        sort_in(openings, wmem_array_index(openings->news, i));
    }
    wmem_destroy_array(openings->news);
    openings->news = NULL;
}

/* Those of a channel; NULL: none. */
static wmem_array_t *find_openings(struct uerudp_knowledge_spawns *openings, uint32_t channel) {
    if (openings == NULL) {
        return NULL;
    }
    if (openings->channels == NULL) {
        openings->channels = wmem_map_new(wmem_file_scope(), g_direct_hash, g_direct_equal);
    }
    sort_news_in(openings);
    return wmem_map_lookup(openings->channels, GUINT_TO_POINTER(channel));
}

const char *uerudp_knowledge_find_path(const struct uerudp_knowledge *knowledge, wmem_allocator_t *pool, uint64_t guid,
                              uint64_t frame) {
    char path[UE_GUID_MAP_PATH_MAX + 1];
    bool is_known = knowledge->map != NULL && ue_guid_map_path(knowledge->map, guid, frame, path) != 0;
    return is_known ? uerudp_label_text_mask_controls(wmem_strdup(pool, path)) : NULL;
}

/* The last opening up to a frame; they were appended in the order of their frames. */
static const struct opened *find_opened(wmem_array_t *openings, uint64_t frame) {
    unsigned low = 0;
    unsigned high = wmem_array_get_count(openings);
    while (low < high) {
        unsigned middle = low + (high - low) / 2;
        const struct opened *opened = wmem_array_index(openings, middle);
        *(opened->frame <= frame ? &low : &high) = opened->frame <= frame ? middle + 1 : middle;
    }
    return low != 0 ? wmem_array_index(openings, low - 1) : NULL;
}

bool uerudp_knowledge_find_actor(const struct uerudp_knowledge *knowledge, wmem_allocator_t *pool, uint32_t channel, uint64_t frame,
                        struct uerudp_knowledge_actor *actor) {
    wmem_array_t *openings = find_openings(knowledge->openings, channel);
    const struct opened *opened = openings != NULL ? find_opened(openings, frame) : NULL;
    if (opened == NULL) {
        return false;
    }
    const struct ue_actor_guids *opening = &opened->opening;
    bool has_class = opening->archetype != 0;
    const char *path = uerudp_knowledge_find_path(knowledge, pool, has_class ? opening->archetype : opening->guid, frame);
    *actor = (struct uerudp_knowledge_actor){opening->guid, opened->frame, path};
    if (has_class && path != NULL) {
        char class_path[UE_GUID_MAP_PATH_MAX + 1];
        ue_actor_class_path(path, class_path, sizeof class_path);
        actor->class_path = wmem_strdup(pool, class_path);
    }
    return true;
}

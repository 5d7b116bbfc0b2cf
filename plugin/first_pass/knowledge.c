/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/first_pass/knowledge.h"

#include <epan/packet.h>

#include "plugin/first_pass/file_allocator.h"
#include "plugin/tree/label_text.h"

/* A channel was opened for this actor. */
struct opened {
    uint64_t frame;
    struct ue_opening opening;
};

struct news {
    uint32_t channel;
    struct opened opened;
};

/* Openings are only appended to the news; what they bring is sorted by channels when somebody asks. */
struct ue_openings {
    wmem_map_t *channels;
    wmem_array_t *news; /* of struct news; NULL: none */
};

static size_t bytes_in_use;
static size_t opening_count;

static void forget(void) {
    bytes_in_use = 0;
    opening_count = 0;
}

void ue_knowledge_register(void) {
    register_init_routine(forget);
}

/* ---- learning ---- */

static void learn_paths(struct ue_knowledge *knowledge, const struct ue_context *context,
                        const struct ue_content *content, uint64_t frame) {
    bool may_tell = content->has_exports || content->kind == UE_CONTENT_CONTROL;
    if (!may_tell || bytes_in_use > UE_KNOWLEDGE_BYTES_MAX) {
        return;
    }
    size_t before = knowledge->map != NULL ? ue_package_map_bytes(knowledge->map) : 0;
    if (knowledge->map == NULL) {
        knowledge->map = ue_package_map_new(&ue_file_memory);
    }
    ue_package_map_learn(knowledge->map, context, content, frame);
    bytes_in_use += ue_package_map_bytes(knowledge->map) - before;
}

static struct ue_openings *need_openings(struct ue_knowledge *knowledge) {
    if (knowledge->openings == NULL) {
        knowledge->openings = wmem_new0(wmem_file_scope(), struct ue_openings);
    }
    return knowledge->openings;
}

static void add_opened(struct ue_knowledge *knowledge, uint32_t channel, const struct opened *opened) {
    if (opening_count == UE_KNOWLEDGE_OPENINGS_MAX) {
        return;
    }
    opening_count++;
    struct ue_openings *openings = need_openings(knowledge);
    const struct news news = {channel, *opened};
    if (openings->news == NULL) {
        openings->news = wmem_array_new(wmem_file_scope(), sizeof news);
    }
    wmem_array_append_one(openings->news, news);
}

static void learn_talk(struct ue_knowledge *knowledge, const struct ue_content *content, uint32_t channel) {
    if (content->data.bits != 0 && !content->is_custom_exports && bytes_in_use <= UE_KNOWLEDGE_BYTES_MAX) {
        bytes_in_use += ue_channel_set_add(&knowledge->talked, &ue_file_memory, channel);
    }
}

void ue_knowledge_learn(struct ue_knowledge *knowledge, const struct ue_context *context,
                        const struct ue_assembly_event *event) {
    struct opened opened = {.frame = event->frame};
    learn_paths(knowledge, context, &event->content, opened.frame);
    learn_talk(knowledge, &event->content, event->channel);
    if (ue_opening_find(context, &event->content, &opened.opening)) {
        add_opened(knowledge, event->channel, &opened);
    }
}

/* ---- asking ---- */

static void sort_in(struct ue_openings *openings, const struct news *news) {
    void *key = GUINT_TO_POINTER(news->channel);
    wmem_array_t *of_channel = wmem_map_lookup(openings->channels, key);
    if (of_channel == NULL) {
        of_channel = wmem_array_sized_new(wmem_file_scope(), sizeof news->opened, 1);
        wmem_map_insert(openings->channels, key, of_channel);
    }
    wmem_array_append_one(of_channel, news->opened);
}

static void sort_news_in(struct ue_openings *openings) {
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
static wmem_array_t *find_openings(struct ue_openings *openings, uint32_t channel) {
    if (openings == NULL) {
        return NULL;
    }
    if (openings->channels == NULL) {
        openings->channels = wmem_map_new(wmem_file_scope(), g_direct_hash, g_direct_equal);
    }
    sort_news_in(openings);
    return wmem_map_lookup(openings->channels, GUINT_TO_POINTER(channel));
}

const char *ue_knowledge_path(const struct ue_knowledge *knowledge, wmem_allocator_t *pool, uint64_t guid,
                              uint64_t frame) {
    char path[UE_PACKAGE_MAP_PATH_MAX + 1];
    bool is_known = knowledge->map != NULL && ue_package_map_path(knowledge->map, guid, frame, path) != 0;
    return is_known ? ue_words_visible(wmem_strdup(pool, path)) : NULL;
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

bool ue_knowledge_actor(const struct ue_knowledge *knowledge, wmem_allocator_t *pool, uint32_t channel, uint64_t frame,
                        struct ue_actor_path *actor) {
    wmem_array_t *openings = find_openings(knowledge->openings, channel);
    const struct opened *opened = openings != NULL ? find_opened(openings, frame) : NULL;
    if (opened == NULL) {
        return false;
    }
    const struct ue_opening *opening = &opened->opening;
    bool has_class = opening->archetype != 0;
    const char *path = ue_knowledge_path(knowledge, pool, has_class ? opening->archetype : opening->guid, frame);
    *actor = (struct ue_actor_path){opening->guid, opened->frame, path};
    if (has_class && path != NULL) {
        char class_path[UE_PACKAGE_MAP_PATH_MAX + 1];
        ue_opening_class(path, class_path, sizeof class_path);
        actor->class_path = wmem_strdup(pool, class_path);
    }
    return true;
}

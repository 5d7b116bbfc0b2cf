/* SPDX-License-Identifier: MIT */
#include "tools/print/json_content.h"

#include "tools/print/json.h"

/* The object of the message itself belongs to no group. */
#define GROUP_NONE UE_GROUP_COUNT

/* The key of a structure in the structure that contains it. */
struct member {
    const char *key;
    bool is_listed;
};

/* Key of the object for a network id whose reference includes the object. */
static const char *object_key(enum ue_field id) {
    switch (id) {
    case UE_F_ACTOR_ARCHETYPE: return "archetype_object";
    case UE_F_ACTOR_LEVEL: return "level_object";
    case UE_F_BLOCK_CLASS: return "class_object";
    case UE_F_BLOCK_OUTER: return "outer_object";
    default: return "object";
    }
}

static struct member export_in(const struct print_json_level *around) {
    switch (around->group) {
    case UE_GROUP_EXPORTS: return (struct member){"objects", true};
    case UE_GROUP_EXPORT: return (struct member){"outer", false};
    default: return (struct member){object_key(around->last), false};
    }
}

static struct member member_of(const struct print_json_level *around, enum ue_group group) {
    switch (group) {
    case UE_GROUP_EXPORTS: return (struct member){"exports", false};
    case UE_GROUP_EXPORT: return export_in(around);
    case UE_GROUP_FIELD_EXPORT: return (struct member){"fields", true};
    case UE_GROUP_MAPPED: return (struct member){"mapped", false};
    case UE_GROUP_ACTOR: return (struct member){"actor", false};
    case UE_GROUP_BLOCK: return (struct member){"blocks", true};
    case UE_GROUP_PROPERTY: return (struct member){"properties", true};
    case UE_GROUP_FIELD: return (struct member){"fields", true};
    case UE_GROUP_VOICE: return (struct member){"voice", true};
    case UE_GROUP_MESSAGE: return (struct member){"messages", true};
    case UE_GROUP_UNIQUE_ID: return (struct member){"unique_id", false};
    case UE_GROUP_HANDSHAKE:
    case UE_GROUP_PACKET:
    case UE_GROUP_ACK:
    case UE_GROUP_BUNCH:
    case UE_GROUP_OPENED: break;
    }
    return (struct member){"other", true};
}

static struct print_json_level *top(struct print_json_content *content) {
    return &content->levels[content->depth];
}

/* ---- brackets ---- */

static void put_key(struct print_json_content *content, const char *key, size_t length, const char *opener) {
    struct text_buffer *line = content->line;
    struct print_json_level *level = top(content);
    text_buffer_add(line, level->more ? ",\"" : "\"");
    text_buffer_add_bytes(line, key, length);
    text_buffer_add(line, "\":");
    text_buffer_add(line, opener);
    level->more = true;
}

static void close_bracket(struct print_json_content *content, const char *key, size_t key_length, char bracket) {
    struct print_json_level *level = top(content);
    if (level->closed_count < PRINT_JSON_CONTENT_MEMBERS) {
        level->closed[level->closed_count++] =
            (struct print_json_member){key, key_length, level->member_begin, content->line->length};
    }
    text_buffer_add_char(content->line, bracket);
}

/* Closes the list, or the object of a dotted key, that is open in an object. */
static void close_member(struct print_json_content *content) {
    struct print_json_level *level = top(content);
    if (level->list != NULL) {
        close_bracket(content, level->list, strlen(level->list), ']');
    } else if (level->object != NULL) {
        close_bracket(content, level->object, strcspn(level->object, "."), '}');
    }
    level->list = NULL;
    level->object = NULL;
}

/* Moves a member to the end of the line and returns its new offset. */
static size_t move_to_end(struct text_buffer *line, const struct print_json_member *member) {
    size_t size = member->end + 1 - member->begin, next = member->end + 2; /* after a comma */
    if (next > line->length) {
        return member->begin;
    }
    char *copy = text_buffer_room(line, size), *text = line->text;
    memcpy(copy, text + member->begin, size);
    memmove(text + member->begin, text + next, line->length - next);
    text[line->length - size - 1] = ',';
    memmove(text + line->length - size, copy, size);
    return line->length - size;
}

/* A key occurs only once in an object: moves the closed member to the end of its object and reopens it. */
static void reopen(struct print_json_content *content, unsigned index) {
    struct print_json_level *level = top(content);
    struct print_json_member member = level->closed[index];
    level->member_begin = move_to_end(content->line, &member);
    content->line->length--; /* the closing bracket */
    level->closed_count--;
    for (unsigned i = index; i < level->closed_count; i++) {
        level->closed[i] = level->closed[i + 1];
        level->closed[i].begin -= member.end + 2 - member.begin;
        level->closed[i].end -= member.end + 2 - member.begin;
    }
}

/* Opens a list, or the object of a dotted key, for its next element or member; true if it is a new one. */
static bool open_member(struct print_json_content *content, const char *key, size_t length, const char *opener) {
    struct print_json_level *level = top(content);
    close_member(content);
    for (unsigned i = 0; i < level->closed_count; i++) {
        if (level->closed[i].key_length == length && memcmp(level->closed[i].key, key, length) == 0) {
            reopen(content, i);
            return false;
        }
    }
    level->member_begin = content->line->length + level->more; /* a comma precedes it */
    put_key(content, key, length, opener);
    return true;
}

static void open_level(struct print_json_content *content, enum ue_group group, bool is_id, struct member member) {
    struct print_json_level *level = top(content);
    bool is_next = member.is_listed && level->list != NULL && strcmp(level->list, member.key) == 0;
    if (!member.is_listed) {
        close_member(content);
        put_key(content, member.key, strlen(member.key), "{");
    } else if (is_next || !open_member(content, member.key, strlen(member.key), "[{")) {
        text_buffer_add(content->line, ",{");
    }
    level->list = member.is_listed ? member.key : NULL;
    content->levels[++content->depth] = (struct print_json_level){.group = group, .is_id = is_id};
}

static void close_level(struct print_json_content *content) {
    close_member(content);
    text_buffer_add_char(content->line, '}');
    content->depth--;
}

/* ---- the trace ---- */

void print_json_content_begin(struct print_json_content *content, struct text_buffer *line, bool more) {
    content->line = line;
    content->depth = 0;
    content->skipped = 0;
    content->levels[0] = (struct print_json_level){.group = GROUP_NONE, .more = more};
}

void print_json_content_end(struct print_json_content *content) {
    close_member(content);
    content->line = NULL;
}

void print_json_content_group(struct print_json_content *content, enum ue_group group) {
    if (content->skipped != 0 || content->depth + 2 >= PRINT_JSON_CONTENT_DEPTH) {
        content->skipped++;
        return;
    }
    open_level(content, group, false, member_of(top(content), group));
}

void print_json_content_group_end(struct print_json_content *content) {
    if (content->skipped != 0) {
        content->skipped--;
        return;
    }
    if (top(content)->is_id) {
        close_level(content);
    }
    close_level(content);
}

/* Each id begins an object, to which a path may be added. */
static void begin_id(struct print_json_content *content) {
    if (top(content)->is_id) {
        close_level(content);
    }
    open_level(content, UE_GROUP_MAPPED, true, (struct member){"ids", true});
}

/* The key without the prefix of its structure. */
static const char *key_of(const struct print_json_content *content, enum ue_field field) {
    const char *name = ue_field_row(field)->name;
    bool is_deep = content->levels[content->depth].group == UE_GROUP_UNIQUE_ID; /* control.unique_id. */
    return (is_deep ? strrchr(name, '.') : strchr(name, '.')) + 1;
}

/* Opens the object of a dotted key; returns the key inside it. */
static const char *go_into(struct print_json_content *content, const char *key) {
    struct print_json_level *level = top(content);
    const char *dot = strchr(key, '.');
    size_t length = dot != NULL ? (size_t)(dot - key) : 0;
    bool is_there = dot != NULL && level->object != NULL && strncmp(level->object, key, length + 1) == 0;
    if (dot == NULL) {
        close_member(content);
    } else if (!is_there) {
        level->more &= !open_member(content, key, length, "{");
        level->object = key;
    }
    return dot != NULL ? dot + 1 : key;
}

void print_json_content_field(struct print_json_content *content, const struct ue_record *record) {
    if (content->skipped != 0) {
        return;
    }
    if (record->field == UE_F_MAPPED_GUID) {
        begin_id(content);
    }
    if (!record->generated) {
        top(content)->last = record->field;
    }
    const char *key = go_into(content, key_of(content, record->field));
    put_key(content, key, strlen(key), "");
    print_json_add_value(content->line, record);
    print_json_add_raw(content->line, key, record);
}

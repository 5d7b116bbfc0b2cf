/* SPDX-License-Identifier: MIT */
/* The content of a complete message as members of a JSON object: structures nest as in the message, keys lack the
   prefix of their structure. */
#ifndef UERUDP_TOOLS_PRINT_JSON_CONTENT_H
#define UERUDP_TOOLS_PRINT_JSON_CONTENT_H

#include "tools/print/text_buffer.h"

/* Nested objects; the outer objects of an export nest deepest. */
#define PRINT_JSON_CONTENT_DEPTH 32

/* Lists and objects of dotted keys in one object. */
#define PRINT_JSON_CONTENT_MEMBERS 8

/* A list, or the object of a dotted key: offsets in the line of the quote before its key and of its closing bracket. */
struct print_json_member {
    const char *key;
    size_t key_length;
    size_t begin, end;
};

/* An open object. */
struct print_json_level {
    enum ue_group group;
    enum ue_field last;  /* the last field that was on the wire */
    bool is_id;          /* one id of a list */
    bool more;           /* a comma must precede the next member */
    const char *list;    /* key of the list that is open in the object; NULL: none */
    const char *object;  /* dotted key whose first part is the object that is open; NULL: none */
    size_t member_begin; /* of that list or object, as in struct print_json_member */
    unsigned closed_count;
    struct print_json_member closed[PRINT_JSON_CONTENT_MEMBERS];
};

struct print_json_content {
    struct text_buffer *line; /* NULL: no message is open */
    unsigned depth;
    unsigned skipped; /* structures nested too deep to print */
    struct print_json_level levels[PRINT_JSON_CONTENT_DEPTH];
};

/* Begins in an object that the caller has opened and will close; `more`: a comma must come first. */
void print_json_content_begin(struct print_json_content *content, struct text_buffer *line, bool more);
void print_json_content_group(struct print_json_content *content, enum ue_group group);
void print_json_content_field(struct print_json_content *content, const struct ue_record *record);
void print_json_content_group_end(struct print_json_content *content);
void print_json_content_end(struct print_json_content *content);

#endif

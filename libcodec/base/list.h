/* SPDX-License-Identifier: MIT */
/* A doubly linked list whose links are members of its elements. A link is in one list at a time; zeroed, it is in
   none. */
#ifndef UERUDP_LIBCODEC_BASE_LIST_H
#define UERUDP_LIBCODEC_BASE_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct ue_list_link {
    struct ue_list_link *next, *previous;
    void *element; /* set by ue_list_push */
};

/* A zeroed list is empty. */
struct ue_list {
    struct ue_list_link *first, *last;
    size_t count;
};

/* Appends the link of an element. */
static inline void ue_list_push(struct ue_list *list, struct ue_list_link *link, void *element) {
    *link = (struct ue_list_link){NULL, list->last, element};
    *(list->last != NULL ? &list->last->next : &list->first) = link;
    list->last = link;
    list->count++;
}

static inline void ue_list_remove(struct ue_list *list, struct ue_list_link *link) {
    *(link->previous != NULL ? &link->previous->next : &list->first) = link->next;
    *(link->next != NULL ? &link->next->previous : &list->last) = link->previous;
    link->next = link->previous = NULL;
    list->count--;
}

/* Makes a link the last one. */
static inline void ue_list_move_to_end(struct ue_list *list, struct ue_list_link *link) {
    if (list->last != link) {
        ue_list_remove(list, link);
        ue_list_push(list, link, link->element);
    }
}

/* The first element; NULL: the list is empty. */
static inline void *ue_list_first(const struct ue_list *list) {
    return list->first != NULL ? list->first->element : NULL;
}

#endif

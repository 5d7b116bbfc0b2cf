/* SPDX-License-Identifier: MIT */
/* The doubly linked list, compared with an array. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "libcodec/base/list.h"
#include "tests/support/rng.h"

#define ELEMENTS 12
#define OPERATIONS 20000

struct list_element {
    int before; /* so that a link has another address than its element */
    struct ue_list_link link;
};

struct list_model {
    struct list_element elements[ELEMENTS];
    struct list_element *order[ELEMENTS];
    size_t count;
};

static void model_remove(struct list_model *model, size_t at) {
    model->count--;
    memmove(&model->order[at], &model->order[at + 1], (model->count - at) * sizeof(*model->order));
}

static void check_list(const struct ue_list *list, const struct list_model *model) {
    const struct ue_list_link *link = list->first, *previous = NULL;
    assert_int_equal(list->count, model->count);
    assert_ptr_equal(ue_list_first(list), model->count != 0 ? model->order[0] : NULL);
    for (size_t i = 0; i < model->count; i++) {
        assert_ptr_equal(link, &model->order[i]->link);
        assert_ptr_equal(link->element, model->order[i]);
        assert_ptr_equal(link->previous, previous);
        previous = link;
        link = link->next;
    }
    assert_null(link);
    assert_ptr_equal(list->last, previous);
}

static void any_operations_match_an_array(void **state) {
    struct rng rng = {1};
    struct list_model model = {.count = 0};
    struct ue_list list = {0};
    for (unsigned i = 0; i < OPERATIONS; i++) {
        struct list_element *element = &model.elements[rng_below(&rng, ELEMENTS)];
        size_t at = 0;
        while (at < model.count && model.order[at] != element) {
            at++;
        }
        if (at == model.count) {
            ue_list_push(&list, &element->link, element);
        } else if (rng_chance(&rng, 50)) {
            ue_list_move_to_end(&list, &element->link);
            model_remove(&model, at);
        } else {
            ue_list_remove(&list, &element->link);
            assert_null(element->link.next);
            assert_null(element->link.previous);
            model_remove(&model, at);
            check_list(&list, &model);
            continue;
        }
        model.order[model.count++] = element;
        check_list(&list, &model);
    }
}

static void a_zeroed_list_is_empty(void **state) {
    const struct ue_list list = {0};
    assert_null(ue_list_first(&list));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_operations_match_an_array),
        cmocka_unit_test(a_zeroed_list_is_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

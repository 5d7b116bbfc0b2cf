/* SPDX-License-Identifier: MIT */
/* The dissector uebare: it decodes nothing and adds the items of a list, by the number of the frame. The environment
   variable UEBARE_ITEMS names the file of the list; without it the protocol has no items. Its lines, in columns that
   tabs separate:

     F TYPE NAME                                     a field; the first has number 0
     I FRAME DEPTH FIELD START LENGTH PARENT VALUE   an item, in the order of the tree. DEPTH 1: below the protocol;
                                                     PARENT 1: has children, 0: has none */
#ifndef UERUDP_TESTS_BENCH_PLUGIN_BARE_ITEMS_H
#define UERUDP_TESTS_BENCH_PLUGIN_BARE_ITEMS_H

void bare_items_register(void);
void bare_items_hand_off(void);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Statistics with a table for each connection, whose rows are found by a key of the statistics. */
#ifndef UERUDP_PLUGIN_TAPS_CONNECTION_TABLES_H
#define UERUDP_PLUGIN_TAPS_CONNECTION_TABLES_H

#include "plugin/compat.h"

#include <epan/stat_tap_ui.h>
#include <stdint.h>

/* Largest number of columns. */
#define UERUDP_CONNECTION_TABLES_COLUMNS_MAX 16

/* Initialise with zeros, hash and equal. Rows are structures of the statistics, allocated with g_new. */
struct uerudp_connection_tables {
    GHashFunc hash;
    GEqualFunc equal;
    GHashTable *rows;
    GPtrArray *retired; /* values of rows before a reset: a window that is open may still draw them */
};

/* Registers statistics, with a filter as their only parameter. Sets group and parameters of the structure, to which
   Wireshark keeps a pointer. */
void uerudp_connection_tables_register(stat_tap_table_ui *ui);

/* Called when a window opens. Wireshark resets and draws the tables before the first packet. */
void uerudp_connection_tables_init(struct uerudp_connection_tables *tables, stat_tap_table_ui *ui);

/* The table of a connection; it is created with the columns of the statistics. */
stat_tap_table *uerudp_connection_tables_require(stat_tap_table_ui *ui, uint32_t stream);

/* Adds a row with the types of the columns and zeros to a table, and returns its number. */
unsigned uerudp_connection_tables_add_row(const stat_tap_table_ui *ui, stat_tap_table *table);

void uerudp_connection_tables_reset(struct uerudp_connection_tables *tables, stat_tap_table *table);

#endif

/* SPDX-License-Identifier: MIT */
/* Reads the properties of a plugin file without loading it: the file may be damaged or built for another machine. */
#ifndef UERUDP_TOOLS_DOCTOR_ELF_H
#define UERUDP_TOOLS_DOCTOR_ELF_H

#include <stdbool.h>
#include <stdint.h>

enum doctor_elf_result {
    DOCTOR_ELF_OK,
    DOCTOR_ELF_UNREADABLE, /* missing, or access denied */
    DOCTOR_ELF_FOREIGN,    /* not a shared library, or for another machine */
    DOCTOR_ELF_DAMAGED,
};

struct doctor_elf {
    uint16_t machine; /* EM_ number; 0: not an ELF file */
    uint8_t bits;     /* 32 or 64 */
    bool has_series;  /* the file exports plugin_want_major and plugin_want_minor */
    int major, minor; /* the Wireshark series that the plugin was built for */
};

/* Sets the members as far as the file can be read. */
enum doctor_elf_result doctor_elf_read(const char *path, struct doctor_elf *elf);

/* "x86-64", "AArch64", "machine 20", with ", 32 bits" for a 32-bit file; returns text. */
char *doctor_elf_machine_text(const struct doctor_elf *elf, char text[32]);

#endif

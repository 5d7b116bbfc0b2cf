/* SPDX-License-Identifier: MIT */
/* What the file of a plugin says of itself, read without loading it: it may be damaged, or made for another machine. */
#ifndef UERUDP_TOOLS_DOCTOR_ELF_H
#define UERUDP_TOOLS_DOCTOR_ELF_H

#include <stdbool.h>
#include <stdint.h>

enum doctor_elf_result {
    DOCTOR_ELF_OK,
    DOCTOR_ELF_UNREADABLE, /* absent, or access is denied */
    DOCTOR_ELF_FOREIGN,    /* not a shared library, or not of this kind of machine */
    DOCTOR_ELF_DAMAGED,
};

struct doctor_elf {
    uint16_t machine; /* EM_ number; 0: not an ELF file */
    uint8_t bits;     /* 32 or 64 */
    bool has_series;  /* plugin_want_major and plugin_want_minor are there */
    int major, minor; /* the series of Wireshark that it was built for */
};

/* Members are set as far as the file could be read. */
enum doctor_elf_result doctor_elf_read(const char *path, struct doctor_elf *elf);

/* "x86-64", "AArch64", "machine 20", with ", 32 bits" where that is so; returns text. */
char *doctor_elf_machine_text(const struct doctor_elf *elf, char text[32]);

#endif

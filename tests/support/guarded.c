/* SPDX-License-Identifier: MIT */
#include "tests/support/guarded.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef _WIN32
#include <windows.h>
#else
#include <sys/mman.h>
#include <unistd.h>
#endif

#include <cmocka.h>

#ifdef _WIN32
static size_t page_bytes(void) {
    SYSTEM_INFO info;
    GetSystemInfo(&info);
    return info.dwPageSize;
}

static void *map_pages(size_t size_bytes) {
    return VirtualAlloc(NULL, size_bytes, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
}

static bool forbid_access(void *page, size_t size_bytes) {
    DWORD before;
    return VirtualProtect(page, size_bytes, PAGE_NOACCESS, &before);
}

static bool unmap_pages(void *base, size_t size_bytes) {
    return VirtualFree(base, 0, MEM_RELEASE);
}
#else
static size_t page_bytes(void) {
    return (size_t)sysconf(_SC_PAGESIZE);
}

static void *map_pages(size_t size_bytes) {
    void *base = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return base != MAP_FAILED ? base : NULL;
}

static bool forbid_access(void *page, size_t size_bytes) {
    return mprotect(page, size_bytes, PROT_NONE) == 0;
}

static bool unmap_pages(void *base, size_t size_bytes) {
    return munmap(base, size_bytes) == 0;
}
#endif

struct guarded guarded_new(size_t capacity_bytes) {
    size_t page = page_bytes();
    size_t room = (capacity_bytes + page - 1) / page * page;
    uint8_t *base = map_pages(room + page);
    assert_non_null(base);
    assert_true(forbid_access(base + room, page));
    return (struct guarded){base, room};
}

void guarded_free(struct guarded *guarded) {
    assert_true(unmap_pages(guarded->base, guarded->capacity_bytes + page_bytes()));
    guarded->base = NULL;
}

uint8_t *guarded_end(const struct guarded *guarded, size_t size_bytes) {
    assert_true(size_bytes <= guarded->capacity_bytes);
    return guarded->base + guarded->capacity_bytes - size_bytes;
}

uint8_t *guarded_put(const struct guarded *guarded, const void *bytes, size_t size_bytes) {
    uint8_t *to = guarded_end(guarded, size_bytes);
    if (size_bytes != 0) {
        memcpy(to, bytes, size_bytes);
    }
    return to;
}

static int digit_value(char digit) {
    const char *digits = "0123456789abcdef";
    const char *found = digit != '\0' ? strchr(digits, digit) : NULL;
    assert_non_null(found);
    return (int)(found - digits);
}

size_t hex_read(const char *digits, uint8_t *bytes, size_t capacity_bytes) {
    size_t count = 0;
    while (*digits != '\0') {
        if (*digits == ' ') {
            digits++;
            continue;
        }
        assert_true(count < capacity_bytes);
        int high = digit_value(digits[0]);
        bytes[count++] = (uint8_t)(high << 4 | digit_value(digits[1]));
        digits += 2;
    }
    return count;
}

void assert_wire_bits(const uint8_t *bytes, size_t bit, const char *bits) {
    for (; *bits != '\0'; bits++) {
        if (*bits != ' ') {
            assert_int_equal(bytes[bit / 8] >> (bit % 8) & 1, *bits - '0');
            bit++;
        }
    }
}

void assert_hex(const uint8_t *bytes, size_t size_bytes, const char *digits) {
    uint8_t expected[4096];
    size_t count = hex_read(digits, expected, sizeof expected);
    bool is_equal = count == size_bytes && memcmp(bytes, expected, count) == 0;
    if (!is_equal) {
        fprintf(stderr, "expected %s\ngot      ", digits);
        for (size_t i = 0; i < size_bytes; i++) {
            fprintf(stderr, "%02x", bytes[i]);
        }
        fprintf(stderr, "\n");
    }
    assert_true(is_equal);
}

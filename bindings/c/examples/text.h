/* What the examples share: a text that grows, and JSON texts in it. */
#ifndef TEXT_H
#define TEXT_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct text {
  char *bytes; /* Ends with a NUL; NULL while nothing was appended. */
  size_t length;
};

static inline void append_bytes(struct text *text, const char *bytes, size_t length) {
  char *grown = realloc(text->bytes, text->length + length + 1);
  if (grown == NULL) {
    fputs("out of memory\n", stderr);
    exit(1);
  }
  memcpy(grown + text->length, bytes, length);
  text->bytes = grown;
  text->length += length;
  grown[text->length] = '\0';
}

static inline void append(struct text *text, const char *more) {
  append_bytes(text, more, strlen(more));
}

/* Appends a JSON text, with its quotes. */
static inline void append_json(struct text *text, const char *value) {
  append(text, "\"");
  for (; *value != '\0'; value++) {
    unsigned char c = (unsigned char)*value;
    char escaped[7];
    if (c == '"' || c == '\\') {
      snprintf(escaped, sizeof escaped, "\\%c", c);
    } else if (c < 0x20) {
      snprintf(escaped, sizeof escaped, "\\u%04x", c);
    } else {
      snprintf(escaped, sizeof escaped, "%c", c);
    }
    append(text, escaped);
  }
  append(text, "\"");
}

static inline void append_number(struct text *text, unsigned long long value) {
  char digits[24];
  snprintf(digits, sizeof digits, "%llu", value);
  append(text, digits);
}

#endif

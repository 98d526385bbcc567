// A search with memmem of libc, timed by itself: the needle's places in a text, overlaps included, over and over.
// Arguments: the file of the text, the needle, milliseconds to go on. Prints the count and the middle time of a run in nanoseconds.
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define RUNS_MAX 100000

static long long nanoseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static long places(const char *text, size_t bytes, const char *needle, size_t length) {
  long count = 0;
  const char *end = text + bytes;
  for (const char *at = text; (at = memmem(at, (size_t)(end - at), needle, length)) != NULL; at++) count++;
  return count;
}

static int ascending(const void *one, const void *other) {
  long long difference = *(const long long *)one - *(const long long *)other;
  return difference < 0 ? -1 : difference > 0;
}

int main(int argc, char **argv) {
  static long long times[RUNS_MAX];
  if (argc != 4) return 2;
  FILE *file = fopen(argv[1], "rb");
  if (!file || fseek(file, 0, SEEK_END)) return 1;
  size_t bytes = (size_t)ftell(file);
  char *text = malloc(bytes + 1);
  rewind(file);
  if (!text || fread(text, 1, bytes, file) != bytes) return 1;
  size_t length = strlen(argv[2]);
  long long end = nanoseconds() + atoll(argv[3]) * 1000000LL;
  long count = 0;
  int runs = 0;
  while (runs < 3 || (runs < RUNS_MAX && nanoseconds() < end)) {
    long long start = nanoseconds();
    count = places(text, bytes, argv[2], length);
    times[runs++] = nanoseconds() - start;
  }
  qsort(times, (size_t)runs, sizeof *times, ascending);
  printf("%ld %lld\n", count, times[runs / 2]);
  return 0;
}

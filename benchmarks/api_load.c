/* Keep-alive HTTP/1.1 load: POSTs of numbered objects over some connections, one request in flight
 * on each, from one thread with epoll. A client in Python would be the slower end of the two.
 *
 * usage: api_load HOST PORT CONNECTIONS REQUESTS PATH TEMPLATE-FILE FIRST-NUMBER
 *
 * In the template every run of nine '#' becomes the request's number, so all bodies are of one
 * size. Prints one line: answers with 2xx, other answers, seconds, and the 50th and 99th
 * percentile of the time from a request to its answer in microseconds.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { DIGITS = 9, BODY_MAX = 1 << 16, ANSWER_MAX = 1 << 18, TIMES_MAX = 1 << 22 };

struct connection {
    int fd;
    char answer[ANSWER_MAX];
    size_t got;
    double sent_at;
};

static char request[BODY_MAX + 1024];
static size_t request_size;
static size_t places[64];
static int place_count;
static long number;
static float *times;
static long time_count, good, bad;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static void fail(const char *what) {
    perror(what);
    exit(3);
}

static void send_one(struct connection *c) {
    char digits[DIGITS + 1];
    snprintf(digits, sizeof digits, "%09ld", number++);
    for (int i = 0; i < place_count; i++) memcpy(request + places[i], digits, DIGITS);
    c->got = 0;
    c->sent_at = now();
    size_t done = 0;
    while (done < request_size) {
        ssize_t n = write(c->fd, request + done, request_size - done);
        if (n < 0) fail("write");
        done += n;
    }
}

/* Tell whether an answer has come in whole. */
static int is_whole(struct connection *c, int *code) {
    c->answer[c->got] = 0;
    char *end = strstr(c->answer, "\r\n\r\n");
    if (!end) return 0;
    *code = atoi(c->answer + 9);
    char *length = strcasestr(c->answer, "\r\ncontent-length:");
    if (!length || length > end) {
        fprintf(stderr, "an answer without content-length\n");
        exit(3);
    }
    size_t size = (size_t)(end + 4 - c->answer) + strtoul(length + 17, NULL, 10);
    return c->got >= size;
}

static int by_size(const void *a, const void *b) {
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static void read_template(const char *path, const char *host, const char *target) {
    static char body[BODY_MAX];
    FILE *file = fopen(path, "r");
    if (!file) fail(path);
    size_t size = fread(body, 1, sizeof body - 1, file);
    fclose(file);
    int head = snprintf(request, sizeof request,
                        "POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\n"
                        "Accept: application/json\r\nContent-Length: %zu\r\n\r\n",
                        target, host, size);
    memcpy(request + head, body, size);
    request_size = head + size;
    request[request_size] = 0;
    for (char *at = request; (at = strstr(at, "#########")) && place_count < 64; at += DIGITS)
        places[place_count++] = at - request;
}

int main(int argc, char **argv) {
    if (argc != 8) {
        fprintf(stderr, "usage: api_load HOST PORT CONNECTIONS REQUESTS PATH TEMPLATE FIRST\n");
        return 2;
    }
    int count = atoi(argv[3]);
    long left = atol(argv[4]);
    read_template(argv[6], argv[1], argv[5]);
    number = atol(argv[7]);
    times = malloc(TIMES_MAX * sizeof *times);
    struct connection *all = calloc(count, sizeof *all);
    struct epoll_event *events = calloc(count, sizeof *events);
    int poll = epoll_create1(0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(atoi(argv[2]))};
    inet_pton(AF_INET, argv[1], &address.sin_addr);
    for (int i = 0; i < count; i++) {
        int one = 1;
        all[i].fd = socket(AF_INET, SOCK_STREAM, 0);
        if (connect(all[i].fd, (struct sockaddr *)&address, sizeof address)) fail("connect");
        setsockopt(all[i].fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = &all[i]};
        epoll_ctl(poll, EPOLL_CTL_ADD, all[i].fd, &event);
    }
    double begun = now(), at = begun;
    int in_flight = 0;
    for (; in_flight < count && left > 0; left--) send_one(&all[in_flight++]);
    while (in_flight > 0) {
        int ready = epoll_wait(poll, events, count, 10000);
        if (ready <= 0) {
            fprintf(stderr, "no answer for 10 s\n");
            return 3;
        }
        for (int i = 0; i < ready; i++) {
            struct connection *c = events[i].data.ptr;
            ssize_t n = read(c->fd, c->answer + c->got, ANSWER_MAX - 1 - c->got);
            if (n <= 0) {
                fprintf(stderr, "the server has closed a connection\n");
                return 3;
            }
            c->got += n;
            int code = 0;
            if (!is_whole(c, &code)) continue;
            at = now();
            if (code >= 200 && code < 300) good++; else bad++;
            if (time_count < TIMES_MAX) times[time_count++] = (at - c->sent_at) * 1e6;
            if (left > 0) { left--; send_one(c); } else in_flight--;
        }
    }
    qsort(times, time_count, sizeof *times, by_size);
    printf("%ld %ld %.6f %.1f %.1f\n", good, bad, at - begun, times[time_count / 2],
           times[(long)(time_count * 0.99)]);
    return 0;
}

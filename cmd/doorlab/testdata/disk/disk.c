// A disk that fails, for LD_PRELOAD: SQLite's calls on doorlab.db and its log go
// through here (Go's own calls don't, they pass by libc).
//
// DOORLAB_DISK names a file of two ints, read at each call: what is wrong with
// the disk now, and for how long a sync stalls (milliseconds), or of how many
// calls one fails.
// DOORLAB_UNDO names a file that gets what each write replaced, and a mark when a
// file was synced: with it a power loss can take back what was not.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FINE, NO_SPACE, WRITE_ERROR, SYNC_ERROR, READ_ONLY, STALL, FORGETS, READ_ERROR, SOME_ERRORS, HELD };
enum { NONE, DB, WAL };

struct record {
	int file, truncated; // truncated: -1 = the file was synced
	long off, len, size; // size: of the file before
};

static volatile int *disk;
static int undo = -1;
static char kind[4096];
static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;

static int (*real_open)(const char *, int, ...);
static int (*real_close)(int);
static ssize_t (*real_pread)(int, void *, size_t, off_t);
static ssize_t (*real_pwrite)(int, const void *, size_t, off_t);
static ssize_t (*real_write)(int, const void *, size_t);
static int (*real_ftruncate)(int, off_t);
static int (*real_fsync)(int);
static int (*real_fdatasync)(int);

__attribute__((constructor)) static void init(void) {
	real_open = dlsym(RTLD_NEXT, "open64");
	real_close = dlsym(RTLD_NEXT, "close");
	real_pread = dlsym(RTLD_NEXT, "pread64");
	real_pwrite = dlsym(RTLD_NEXT, "pwrite64");
	real_write = dlsym(RTLD_NEXT, "write");
	real_ftruncate = dlsym(RTLD_NEXT, "ftruncate64");
	real_fsync = dlsym(RTLD_NEXT, "fsync");
	real_fdatasync = dlsym(RTLD_NEXT, "fdatasync");
	const char *path = getenv("DOORLAB_DISK");
	if (path) {
		int fd = real_open(path, O_RDONLY | O_CLOEXEC);
		void *p = fd < 0 ? MAP_FAILED : mmap(NULL, 8, PROT_READ, MAP_SHARED, fd, 0);
		if (p == MAP_FAILED) abort();
		disk = p;
	}
	path = getenv("DOORLAB_UNDO");
	if (path && (undo = real_open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)) < 0) abort();
}

static int is(int what) { return disk && disk[0] == what; }

static int ends(const char *s, const char *end) {
	size_t n = strlen(s), m = strlen(end);
	return n >= m && !strcmp(s + n - m, end);
}

static int opened(int fd, const char *path) {
	if (fd >= 0 && fd < (int)sizeof kind) kind[fd] = ends(path, "doorlab.db") ? DB : ends(path, "doorlab.db-wal") ? WAL : NONE;
	return fd;
}

static int of(int fd) { return fd >= 0 && fd < (int)sizeof kind ? kind[fd] : NONE; }

static void put(struct record *r, const void *old) {
	char head[sizeof *r];
	memcpy(head, r, sizeof *r);
	char *all = malloc(sizeof *r + r->len);
	memcpy(all, head, sizeof *r);
	if (r->len) memcpy(all + sizeof *r, old, r->len);
	if (real_write(undo, all, sizeof *r + r->len) < 0) abort();
	free(all);
}

// remember keeps what [off, off+len) holds; a truncation loses what is behind off.
static void remember(int fd, long off, long len, int truncated) {
	if (undo < 0) return;
	struct stat st;
	if (fstat(fd, &st)) abort();
	struct record r = {of(fd), truncated, off, 0, st.st_size};
	if (truncated) len = st.st_size > off ? st.st_size - off : 0;
	char *old = malloc(len ? len : 1);
	ssize_t n = real_pread(fd, old, len, off);
	r.len = n > 0 ? n : 0;
	put(&r, old);
	free(old);
}

// unlucky: one of disk[1] calls, of whatever kind.
static int unlucky(void) {
	static unsigned calls;
	return is(SOME_ERRORS) && __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED) % disk[1] == 0;
}

static int refused(void) {
	if (unlucky()) return errno = EIO, 1;
	if (is(NO_SPACE)) return errno = ENOSPC, 1;
	if (is(WRITE_ERROR)) return errno = EIO, 1;
	if (is(READ_ONLY)) return errno = EROFS, 1;
	return 0;
}

int open64(const char *path, int flags, ...) {
	va_list a;
	va_start(a, flags);
	int mode = va_arg(a, int);
	va_end(a);
	return opened(real_open(path, flags, mode), path);
}
int open(const char *path, int flags, ...) __attribute__((alias("open64")));

int close(int fd) {
	if (fd >= 0 && fd < (int)sizeof kind) kind[fd] = NONE;
	return real_close(fd);
}

ssize_t pread64(int fd, void *b, size_t n, off_t off) {
	if (of(fd) && (is(READ_ERROR) || unlucky())) return errno = EIO, -1;
	return real_pread(fd, b, n, off);
}
ssize_t pread(int fd, void *b, size_t n, off_t off) __attribute__((alias("pread64")));

ssize_t pwrite64(int fd, const void *b, size_t n, off_t off) {
	if (!of(fd)) return real_pwrite(fd, b, n, off);
	if (refused()) return -1;
	pthread_mutex_lock(&one);
	remember(fd, off, n, 0);
	ssize_t done = real_pwrite(fd, b, n, off);
	pthread_mutex_unlock(&one);
	return done;
}
ssize_t pwrite(int fd, const void *b, size_t n, off_t off) __attribute__((alias("pwrite64")));

ssize_t write(int fd, const void *b, size_t n) {
	if (!of(fd)) return real_write(fd, b, n);
	return pwrite64(fd, b, n, lseek(fd, 0, SEEK_CUR));
}

int ftruncate64(int fd, off_t size) {
	if (!of(fd)) return real_ftruncate(fd, size);
	if (refused()) return -1;
	pthread_mutex_lock(&one);
	remember(fd, size, 0, 1);
	int done = real_ftruncate(fd, size);
	pthread_mutex_unlock(&one);
	return done;
}
int ftruncate(int fd, off_t size) __attribute__((alias("ftruncate64")));

static int synced(int fd, int (*real)(int)) {
	if (!of(fd)) return real(fd);
	if (is(SYNC_ERROR) || is(NO_SPACE) && of(fd) == DB) return errno = is(SYNC_ERROR) ? EIO : ENOSPC, -1;
	if (unlucky()) return errno = EIO, -1;
	if (is(STALL)) usleep(1000 * disk[1]);
	while (is(HELD)) usleep(1000);
	if (undo < 0) return real(fd);
	pthread_mutex_lock(&one); // the page cache is disk enough: what is undone is what counts
	if (!is(FORGETS)) {
		struct record r = {of(fd), -1, 0, 0, 0};
		put(&r, NULL);
	}
	pthread_mutex_unlock(&one);
	return 0;
}

int fsync(int fd) { return synced(fd, real_fsync); }
int fdatasync(int fd) { return synced(fd, real_fdatasync); }

package locks

const nonblock = 0 // no FIFO has a path in a directory here

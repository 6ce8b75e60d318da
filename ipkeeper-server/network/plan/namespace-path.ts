/** By which a program that was started knows the namespace that was handed to it as its file descriptor 3. */
export const namespacePath = '/proc/self/fd/3'

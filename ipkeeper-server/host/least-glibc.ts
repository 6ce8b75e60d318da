/** What a Node asks of the host's C library, and so do both executables that hold one; package.json pins that Node. */
export const leastGlibc = '2.28'

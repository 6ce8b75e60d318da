/**
 * The codes of the specification that an error may carry to a runtime. 3 is left out: a runtime would take it that no DEL is
 * needed. What is not here and below 100 is reserved.
 */
export const specifiedCodes = [1, 2, 4, 5, 6, 7, 8, 11, 50, 51] as const

/** Codes of plugins' own begin here. */
export const firstOwnCode = 100

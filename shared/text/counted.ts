/** A number of things, with a noun that agrees: "1 finding", "2 findings", "0 entries". */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${count} ${count === 1 ? one : many}`

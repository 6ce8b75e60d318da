/** What work comes to, if that is known in time; else rejects with `late`, while the work goes on for others that wait for it. */
export async function inTime<T>(work: Promise<T>, milliseconds: number, late: () => Error): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const over = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => {
        reject(late())
      },
      Math.max(milliseconds, 0),
    )
  })
  try {
    return await Promise.race([work, over])
  } finally {
    clearTimeout(timer)
  }
}

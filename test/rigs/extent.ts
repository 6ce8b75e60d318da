/** EXTENT=all, as in `make test-all`: every row of a test that takes minutes. `make test` plays those that find the most. */
export const isWhole = process.env['EXTENT'] === 'all'

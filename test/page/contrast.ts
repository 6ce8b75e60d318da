import type { Page } from 'playwright-core'

export interface Pair {
  readonly text: string
  /** WCAG 2: from 1 to 21. */
  readonly ratio: number
}

/**
 * The contrast of each text that can be seen with what is behind it, and of the signs of the map with the second colour of
 * their pattern as well; run in the browser.
 */
const measure = `(() => {
  const channel = value => {
    const c = value / 255
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4
  }
  const parse = text => (text.match(/[0-9.]+/g) ?? []).map(Number)
  const luminance = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b)
  const ratioOf = (a, b) => {
    const [x, y] = [luminance(a), luminance(b)].sort((p, q) => q - p)
    return (x + 0.05) / (y + 0.05)
  }
  const behind = element => {
    for (let place = element; place; place = place.parentElement) {
      const color = parse(getComputedStyle(place).backgroundColor)
      if (color.length === 3 || color[3] > 0) return color
    }
    return [255, 255, 255]
  }
  const probe = document.body.appendChild(document.createElement('i'))
  const resolve = name => {
    probe.style.color = 'var(--' + name + '-alt)'
    return parse(getComputedStyle(probe).color)
  }
  const states = ['bound', 'held', 'cooling', 'aside', 'reserved', 'free', 'unusable']
  const found = []
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement
    if (node.textContent.trim() === '' || !element.checkVisibility()) continue
    const color = parse(getComputedStyle(element).color)
    found.push({ text: node.textContent.trim(), ratio: ratioOf(color, behind(element)) })
    const dressed = element.closest('.cell, .swatch')
    const state = dressed && states.find(name => dressed.classList.contains(name))
    if (state) found.push({ text: state + ' pattern', ratio: ratioOf(color, resolve(state)) })
  }
  probe.remove()
  return found
})()`

export async function measureContrast(page: Page): Promise<readonly Pair[]> {
  return await page.evaluate(measure)
}

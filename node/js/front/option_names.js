// The names of options: in camel case here, with underscores in the core.

export const snake = name => name.replace(/[A-Z]/g, letter => '_' + letter.toLowerCase())

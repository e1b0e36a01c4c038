/** A loaded core: its compiled modules, who it says it is, and what its methods do to a store. */
import { readFileSync } from 'node:fs';

import type { Access, Exports, Imports } from '../contract.js';

/** What jco generates: a module that instantiates a component. */
interface Script {
  instantiate(
    module: (path: string) => WebAssembly.Module,
    imports: Imports,
    instantiate: (
      module: WebAssembly.Module,
      imports: WebAssembly.Imports,
    ) => WebAssembly.Instance,
  ): Exports;
}

/** An instance of a core, and the memory that it has. */
export interface Raw {
  exports: Exports;
  /** Bytes of linear memory now. */
  memory(): number;
}

/** A core that can be instantiated any number of times. */
export class Core {
  readonly #script: Script;
  readonly #folder: URL;
  readonly #modules = new Map<string, WebAssembly.Module>();

  private constructor(script: Script, folder: URL) {
    this.#script = script;
    this.#folder = folder;
  }

  /** Loads what jco generated into a folder, whose URL ends with a slash. */
  static async load(folder: URL): Promise<Core> {
    const script = (await import(new URL('component.js', folder).href)) as Script;
    return new Core(script, folder);
  }

  /** The core that this package was built with. */
  static builtIn(): Promise<Core> {
    return Core.load(new URL('../component/', import.meta.url));
  }

  /** Instantiates the core. Throws whatever it throws while it starts. */
  instantiate(imports: Imports): Raw {
    const memories: WebAssembly.Memory[] = [];
    const exports = this.#script.instantiate(
      (name) => this.#module(name),
      imports,
      (module, given) => {
        const instance = new WebAssembly.Instance(module, given);
        const { memory } = instance.exports;
        if (memory instanceof WebAssembly.Memory) memories.push(memory);
        return instance;
      },
    );
    const memory = () => memories.reduce((sum, { buffer }) => sum + buffer.byteLength, 0);
    return { exports, memory };
  }

  #module(name: string): WebAssembly.Module {
    let module = this.#modules.get(name);
    if (module === undefined) {
      module = new WebAssembly.Module(readFileSync(new URL(name, this.#folder)));
      this.#modules.set(name, module);
    }
    return module;
  }
}

/** What methods do to the store, by name. */
export type Methods = ReadonlyMap<string, Access>;

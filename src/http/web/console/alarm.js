// The sound and the count of customers who wait for a person.

import { memory, words } from "./desk.js";
import { labelled } from "./parts.js";

// Two notes, in hertz and seconds.
const NOTES = [
  { pitch: 659, at: 0 },
  { pitch: 880, at: 0.18 },
];
const LENGTH = 0.5;
const LOUDNESS = 0.15;

export class Alarm {
  #context;
  #switch;

  /** `onOff`: the button that turns the sound on and off. */
  constructor(onOff) {
    this.count = 0;
    this.#switch = onOff;
    this.#show();
    onOff.addEventListener("click", () => {
      memory.set("silent", !this.#isSilent || undefined);
      this.#show();
      if (!this.#isSilent) this.#sound();
    });
    // Browsers play no sound before the first gesture.
    for (const gesture of ["pointerdown", "keydown"]) addEventListener(gesture, () => this.#wake(), { once: true });
    memory.onChange("silent", () => this.#show());
    words.onChange(onOff, () => this.#show());
  }

  /** Sets the number of waiting customers. Returns whether it has grown. */
  waiting(count) {
    const more = count > this.count;
    this.count = count;
    if (more && !this.#isSilent) this.#sound();
    return more;
  }

  get #isSilent() {
    return memory.get("silent") === true;
  }

  #show() {
    this.#switch.setAttribute("aria-pressed", String(!this.#isSilent));
    labelled(this.#switch, "sound");
    this.#switch.title = words.say(this.#isSilent ? "sound_off" : "sound_on");
  }

  #wake() {
    this.#context ??= new AudioContext();
    this.#context.resume();
  }

  #sound() {
    const context = this.#context;
    if (context?.state !== "running") return;
    for (const { pitch, at } of NOTES) {
      const [tone, volume] = [context.createOscillator(), context.createGain()];
      const start = context.currentTime + at;
      tone.frequency.value = pitch;
      volume.gain.setValueAtTime(0, start);
      volume.gain.linearRampToValueAtTime(LOUDNESS, start + 0.02);
      volume.gain.exponentialRampToValueAtTime(0.001, start + LENGTH);
      tone.connect(volume).connect(context.destination);
      tone.start(start);
      tone.stop(start + LENGTH);
    }
  }
}

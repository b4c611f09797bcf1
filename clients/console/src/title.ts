/** The title of the tab: what is open, and how many questions wait. */

let [shown, waiting] = ["Quipu", 0];

function draw(): void {
  document.title = `${waiting > 0 ? `(${waiting}) ` : ""}${shown} · Quipu`;
}

export function setTitle(text: string): void {
  shown = text;
  draw();
}

export function setWaiting(questions: number): void {
  waiting = questions;
  draw();
}

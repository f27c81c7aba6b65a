/** The dashboard of a daemon: the browser's part. It asks the HTTP interface for everything that it shows. */
import { render } from "preact";
import { App } from "./pages/app.tsx";
import "./style.css";

render(<App />, document.getElementById("app") as HTMLElement);

"use strict";
// Draws each canvas "chart-N" from the JSON in "chart-N-data". Texts of numbers are made where the tables'
// are, so that they are the same; only the marks of the axes are written here.
(() => {
  // Told apart by those who do not see every colour; the shapes differ as well.
  const LIGHT = {
    series: ["#0072b2", "#d55e00", "#00805d", "#aa4499", "#8a6d00", "#3f8fd0"],
    ink: "#1b1f24", quiet: "#59636e", rule: "#e3e7eb", paper: "#ffffff",
  };
  const DARK = {
    series: ["#56b4e9", "#ff9248", "#2fc99a", "#e08cc8", "#e0c341", "#a5b4fc"],
    ink: "#e4e8ec", quiet: "#9da7b1", rule: "#2b3138", paper: "#14171b",
  };
  const SHAPES = ["circle", "rect", "triangle", "rectRot", "crossRot", "star", "rectRounded"];
  const MANY = 60; // points, beyond which a line is drawn without them
  const FEW = 20; // points, up to which spreads are whiskers: bands that lie on each other hide their colours

  const dark = matchMedia("(prefers-color-scheme: dark)");
  let printing = false;
  const theme = () => (dark.matches && !printing ? DARK : LIGHT);

  function mark(value) {
    const size = Math.abs(value);
    if (size !== 0 && (size >= 1e7 || size < 1e-4)) {
      return value.toExponential().replace("e+", "e");
    }
    return value.toLocaleString("en-US", { maximumSignificantDigits: 6 });
  }

  // The tables hold the whole of it.
  const short = (text, length) => ([...text].length > length ? [...text].slice(0, length - 1).join("") + "…" : text);

  // On a logarithmic axis 1, 2 and 5 are named, and over more than two decades only 1.
  function logarithmicMark(value, scale) {
    const decades = Math.log10(scale.max / scale.min);
    const digits = value / 10 ** Math.floor(Math.log10(value) + 1e-9);
    const named = decades > 2 ? [1] : decades > 0.8 ? [1, 2, 5] : null;
    return named === null || named.some((n) => Math.abs(n - digits) < 1e-6) ? mark(value) : null;
  }

  // Room for the ends of the spreads, and for where the axis is to begin and end.
  function widen(scale, axis, values) {
    for (const value of values) {
      if (value !== null && (value > 0 || axis.scale !== "logarithmic")) {
        scale.min = Math.min(scale.min, value);
        scale.max = Math.max(scale.max, value);
      }
    }
  }

  function scale(axis, chart, isX) {
    const spreads = isX ? [] : chart.series.flatMap((s) => s.points.flatMap((p) => [p.low, p.high]));
    const hasBars = chart.series.some((s) => s.style === "bars");
    const options = {
      type: axis.scale === "categories" ? "category" : axis.scale,
      bounds: isX ? "data" : "ticks",
      title: { display: axis.title !== "", text: short(axis.title, 48) },
      ticks: { maxRotation: 50, includeBounds: false },
    };
    if (axis.scale === "categories") {
      const labels = axis.categories.map((category) => short(category, 24));
      return { ...options, labels, offset: true, grid: { display: false } };
    }
    options.beginAtZero = !isX && hasBars;
    options.afterDataLimits = (made) => widen(made, axis, [...spreads, axis.from, axis.to]);
    // The library puts a mark behind the end of an axis that ends with the data.
    options.afterBuildTicks = (made) => {
      made.ticks = (axis.ticks.length > 0 ? axis.ticks.map((value) => ({ value })) : made.ticks)
        .filter(({ value }) => value >= made.min && value <= made.max);
    };
    if (axis.ticks.length > 0) {
      options.ticks.callback = mark;
    } else {
      options.ticks.callback = axis.scale === "logarithmic"
        ? function (value) { return logarithmicMark(value, this); }
        : mark;
    }
    return options;
  }

  const PALE = "70"; // the opacity of a second series of one color

  function dataset(chart, index, colours) {
    const series = chart.series[index];
    const place = (i) => chart.series[i].color ?? i % colours.series.length;
    const again = chart.series.slice(0, index).some((other, i) => other.style === series.style && place(i) === place(index));
    const colour = series.style === "limit" ? colours.quiet : colours.series[place(index)];
    const made = {
      label: short(series.name, 40),
      data: series.points,
      type: series.style === "bars" ? "bar" : "line",
      borderColor: colour,
      backgroundColor: colour,
      pointStyle: series.style === "bars" ? "rect" : SHAPES[index % SHAPES.length],
    };
    if (series.style === "bars") {
      return { ...made, backgroundColor: again ? colour + PALE : colour, maxBarThickness: 56, order: 1 };
    }
    if (series.style === "limit") {
      return { ...made, pointStyle: "line", pointRadius: 0, pointHoverRadius: 0, borderWidth: 1.5, borderDash: [6, 4] };
    }
    const radius = series.style === "points" ? 6 : series.points.length > MANY ? 0 : 4;
    return {
      ...made,
      showLine: series.style === "line",
      borderWidth: 2,
      borderDash: again ? [5, 4] : [],
      pointRadius: radius,
      pointHoverRadius: radius + 2,
    };
  }

  // The ends of point i's spread as pixels, or null.
  function ends(plot, point) {
    if (point.y === null || point.low === null || point.high === null) {
      return null;
    }
    const y = plot.scales.y;
    const pixel = (value) => y.getPixelForValue(Math.min(y.max, Math.max(y.min, value)));
    return { low: pixel(point.low), high: pixel(point.high) };
  }

  function eachShown(plot, chart, draw) {
    const { ctx, chartArea: area } = plot;
    ctx.save();
    ctx.beginPath();
    ctx.rect(area.left - 8, area.top, area.width + 16, area.height); // The first and the last whiskers are whole.
    ctx.clip();
    chart.series.forEach((series, s) => {
      if (plot.isDatasetVisible(s)) {
        draw(series, plot.getDatasetMeta(s).data, plot.data.datasets[s].borderColor);
      }
    });
    ctx.restore();
  }

  const hasBand = (series) => series.style === "line" && series.points.length > FEW;

  function drawBands(plot, chart) {
    const { ctx } = plot;
    eachShown(plot, chart, (series, elements, colour) => {
      if (!hasBand(series)) {
        return;
      }
      ctx.fillStyle = colour;
      ctx.globalAlpha = 0.18;
      let run = [];
      const fill = () => {
        if (run.length > 1) {
          ctx.beginPath();
          run.forEach((e) => ctx.lineTo(e.x, e.high));
          run.reverse().forEach((e) => ctx.lineTo(e.x, e.low));
          ctx.fill();
        }
        run = [];
      };
      series.points.forEach((point, i) => {
        const spread = ends(plot, point);
        if (spread === null) {
          fill();
        } else {
          run.push({ x: elements[i].x, ...spread });
        }
      });
      fill();
    });
  }

  // Points of several lines have the same x. Their whiskers stand side by side, but no farther off than a point is wide.
  function apart(chart) {
    const spread = chart.series.filter((s) => s.style === "line" && !hasBand(s) && s.points.some((p) => p.low !== null));
    const step = Math.min(6, 8 / Math.max(spread.length - 1, 1));
    return (series) => (spread.includes(series) ? (spread.indexOf(series) - (spread.length - 1) / 2) * step : 0);
  }

  function drawWhiskers(plot, chart) {
    const { ctx } = plot;
    const offset = apart(chart);
    eachShown(plot, chart, (series, elements, colour) => {
      if (hasBand(series) || series.style === "limit") {
        return;
      }
      ctx.strokeStyle = series.style === "bars" ? theme().ink : colour;
      ctx.lineWidth = 1.5;
      series.points.forEach((point, i) => {
        const spread = ends(plot, point);
        if (spread !== null) {
          const x = elements[i].x + offset(series);
          ctx.beginPath();
          ctx.moveTo(x, spread.low);
          ctx.lineTo(x, spread.high);
          for (const end of [spread.low, spread.high]) {
            ctx.moveTo(x - 4, end);
            ctx.lineTo(x + 4, end);
          }
          ctx.stroke();
        }
      });
    });
  }

  // The library puts the axes right under the legend.
  function setLegendApart(plot) {
    const fit = plot.legend.fit;
    plot.legend.fit = function () {
      fit.call(this);
      this.height += 10;
    };
  }

  function paint(plot, chart) {
    const colours = theme();
    chart.series.forEach((_, s) => {
      const { borderColor, backgroundColor } = dataset(chart, s, colours);
      Object.assign(plot.data.datasets[s], { borderColor, backgroundColor });
    });
    for (const made of Object.values(plot.options.scales)) {
      made.ticks.color = colours.quiet;
      made.title.color = colours.quiet;
      made.grid = { ...made.grid, color: colours.rule };
      made.border = { color: colours.quiet };
    }
    plot.options.plugins.legend.labels.color = colours.ink;
    plot.update("none");
  }

  function draw(canvas) {
    const chart = JSON.parse(document.getElementById(canvas.id + "-data").textContent);
    const hasBars = chart.series.some((s) => s.style === "bars");
    const plot = new Chart(canvas, {
      type: hasBars ? "bar" : "line",
      data: { datasets: chart.series.map((_, s) => dataset(chart, s, theme())) },
      plugins: [{
        id: "spreads",
        beforeInit: (made) => (chart.series.length > 1 ? setLegendApart(made) : undefined),
        beforeDatasetsDraw: (made) => drawBands(made, chart),
        afterDatasetsDraw: (made) => drawWhiskers(made, chart),
      }],
      options: {
        parsing: false,
        animation: false,
        responsive: true,
        maintainAspectRatio: false,
        interaction: hasBars ? { mode: "index", intersect: false } : { mode: "nearest", intersect: false },
        scales: { x: scale(chart.x, chart, true), y: scale(chart.y, chart, false) },
        plugins: {
          legend: {
            display: chart.series.length > 1,
            align: "start",
            labels: { usePointStyle: true, boxHeight: 7, padding: 14 },
          },
          tooltip: {
            usePointStyle: true,
            filter: (item) => item.raw.y !== null,
            callbacks: {
              title: (items) => (items.length === 0 ? "" : short(chart.x.title + ": " + items[0].raw.at, 60)),
              label: (item) => item.dataset.label + ": " + item.raw.text,
            },
          },
        },
      },
    });
    paint(plot, chart);
    return () => paint(plot, chart);
  }

  Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
  Chart.defaults.font.size = 12.5;
  const repaints = [...document.querySelectorAll("figure.chart canvas")].map(draw);
  const repaint = () => repaints.forEach((again) => again());
  dark.addEventListener("change", repaint);
  for (const [event, value] of [["beforeprint", true], ["afterprint", false]]) {
    addEventListener(event, () => {
      printing = value;
      repaint();
    });
  }
})();

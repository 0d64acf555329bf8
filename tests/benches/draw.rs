//! Measures the time to draw a frame of the workbench, at three sizes, with the same plan in all frames and with
//! another plan in each frame.
#![allow(missing_docs, reason = "criterion's macros make items without documentation")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a benchmark fails by panicking")]

#[allow(dead_code, reason = "the screens' tests use the rest")]
#[path = "../screens/fixture.rs"]
mod fixture;

use criterion::{Criterion, criterion_group, criterion_main};
use fixture::{Bench, Style};
use lightbay::app::Command;
use lightbay::view;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::hint::black_box;

const SIZES: [(u16, u16); 3] = [(80, 24), (120, 40), (200, 60)];

fn draw(criterion: &mut Criterion) {
    let mut bench = Bench::solved("megatron_177b", Style::Colour);
    let plans: Vec<u64> = bench.app.plans.iter().map(|entry| entry.number).collect();
    for (width, height) in SIZES {
        let area = Rect::new(0, 0, width, height);
        let mut buf = Buffer::empty(area);
        bench.draw(width, height);
        criterion.bench_function(&format!("draw the workbench, {width}x{height}"), |bencher| {
            bencher.iter(|| {
                buf.reset();
                black_box(view::draw_into(&bench.app, &mut bench.cache, area, &mut buf));
            });
        });
        // Explanations of both plans are worked out before, on a helper thread of the real program.
        let pair = [plans[0], plans[plans.len() - 1]];
        for plan in pair {
            bench.run(Command::ShowPlan(plan));
            bench.draw(width, height);
        }
        let mut turn = 0;
        criterion.bench_function(&format!("draw another plan, {width}x{height}"), |bencher| {
            bencher.iter(|| {
                turn += 1;
                bench.run(Command::ShowPlan(pair[turn % 2]));
                buf.reset();
                black_box(view::draw_into(&bench.app, &mut bench.cache, area, &mut buf));
            });
        });
    }
}

criterion_group!(benches, draw);
criterion_main!(benches);
